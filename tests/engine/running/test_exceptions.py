"""What is thrown and caught: names, causes, the blocks of `Try`, and the errors of the engine and of Python."""

from textwrap import dedent, indent

import pytest
from engines import package
from programs import HISTORIC, NO_MATCH, opened, refused, run

from trundle.engine import EngineCode, EngineError

HIT = "- Throw: Oops\n  Message: hello"


def tried(block, catch="", more=""):
    """A body that tries a block and then returns what `$out` is."""
    lines = ["- Try:", indent(dedent(block).strip("\n"), "    ")]
    if catch:
        lines += ["  Catch:", indent(dedent(catch).strip("\n"), "    ")]
    if more:
        lines.append(indent(dedent(more).strip("\n"), "  "))
    return "\n".join([*lines, "- Return: $out"])


def test_what_is_thrown_has_its_name_by_the_namespaces_of_the_thrower():
    with refused("a.Oops", "thrown") as caught:
        run(HIT)
    assert caught.value.message == "hello"


@pytest.mark.parametrize(
    ("name", "full"),
    [("Oops", "a.Oops"), ("':Oops'", "a.Oops"), ("b.c.Oops", "b.c.Oops"), ("'py:Oops'", "Oops")],
)
def test_names_are_short_absolute_or_with_a_prefix(name, full):
    with refused(full):
        run(f"Throw: {name}")


def test_a_list_of_names_is_thrown_and_each_of_them_catches():
    for name in ("One", "Two"):
        body = tried("- Throw: [One, Two]", f"- With: {name}\n  As: e\n  Do: [{{$out: $e.name}}]")
        assert run(body) == f"a.{name}"
    with refused("a.One") as caught:
        run("Throw: [One, Two]")
    assert "a.Two" in caught.value.names


@pytest.mark.parametrize(
    ("message", "result"),
    [("hello", "hello"), ("$x + 1", "3"), ("concat(a, b)", "ab")],
)
def test_a_message_is_an_expression(message, result):
    body = tried(
        f"- $x: 2\n- Throw: Oops\n  Message: {message}", "- As: e\n  Do: [{$out: $e.message}]"
    )
    assert str(run(body)) == result


@pytest.mark.parametrize("names", ["Oops", "[Other, Oops]", "a.Oops", "':Oops'"])
def test_catch_with_a_name_or_a_list(names):
    assert run(tried(HIT, f"- With: {names}\n  Do: [{{$out: 1}}]")) == 1


def test_catch_may_be_one_map():
    assert run(tried(HIT, "With: Oops\nDo: [{$out: 1}]")) == 1


def test_the_first_catch_that_matches_counts():
    catch = """
    - With: Other
      Do: [{$out: 1}]
    - With: Oops
      Do: [{$out: 2}]
    - Do: [{$out: 3}]
    """
    assert run(tried(HIT, catch)) == 2
    assert run(tried("- Throw: Third", catch)) == 3


def test_catch_without_do_swallows():
    assert run(tried(HIT, "- With: Oops")) is None


def test_what_no_catch_matches_is_raised_again():
    with refused("a.Oops"):
        run(tried(HIT, "- With: Other\n  Do: [{$out: 1}]"))


def test_names_in_catch_belong_to_the_class_that_catches():
    thrower = package(
        "b",
        Format="1.4",
        classes={"b.T": "Namespaces: {=: b}\nMethods: {f: {Body: [{Throw: Oops}]}}"},
    )
    block = "- new('b.T').f()"
    options = {"packages": [thrower], "requires": {"b": 1}}
    assert run(tried(block, "- With: b.Oops\n  Do: [{$out: 1}]"), **options) == 1
    with refused("b.Oops"):
        run(tried(block, "- With: Oops\n  Do: [{$out: 1}]"), **options)


def test_what_as_gives():
    block = """
    - Throw: [One, Two]
      Message: hello
      Extra: {a: [1, $x]}
    """
    catch = """
    - With: [None, Two]
      As: e
      Do:
        - $out: [$e.name, $e.message, $e.extra, $e.cause, $e.nativeException]
    """
    assert run("- $x: 5\n" + tried(block, catch)) == [
        "a.Two",
        "hello",
        {"a": [1, 5]},
        None,
        None,
    ]


def test_what_as_gives_is_an_exception_of_the_core():
    catch = "- As: e\n  Do:\n    $out: $e is io:Exception"
    assert run(tried(HIT, catch)) is True


def test_an_exception_as_text_has_its_name_and_message():
    text = run(tried(HIT, "- As: e\n  Do: [{$out: $e.toString()}]"))
    assert "Oops" in text
    assert "hello" in text


def test_the_stack_trace_names_the_methods():
    text = run(
        tried("- $.f()", "- As: e\n  Do: [{$out: $e.stackTrace.toString()}]"),
        methods="f: {Body: [{Throw: Oops}]}",
    )
    assert "f" in text
    assert "run" in text


def test_extra_is_evaluated_where_it_is_thrown():
    methods = """
    f:
      Body:
        - $x: thrower
        - Throw: Oops
          Extra: {x: $x}
    """
    body = "- $x: catcher\n" + tried("- $.f()", "- As: e\n  Do: [{$out: $e.extra}]")
    assert run(body, methods=methods) == {"x": "thrower"}


def test_a_cause_is_what_was_caught_before():
    block = """
    - Try: [{Throw: Inner, Message: deep}]
      Catch:
        As: e
        Do:
          - Throw: Outer
            Cause: $e
    """
    catch = "- As: e\n  Do: [{$out: [$e.name, $e.cause.name, $e.cause.message]}]"
    assert run(tried(block, catch)) == ["a.Outer", "a.Inner", "deep"]
    with refused("a.Outer") as caught:
        run(tried(block))
    assert "a.Inner" in caught.value.cause.names
    assert "deep" in caught.value.format()


def test_from_outside_extra_is_a_plain_value():
    with refused("a.Oops") as caught:
        run("- Throw: Oops\n  Extra: {a: [1]}")
    assert caught.value.extra == {"a": [1]}


# Else, Finally, Rethrow


def test_else_runs_if_nothing_was_raised():
    seen = []
    more = "Else: [trace(else)]\nFinally: [trace(finally)]"
    run(tried("- trace(try)", "- Do: [trace(catch)]", more), seen=seen)
    assert seen == ["try", "else", "finally"]
    seen.clear()
    run(tried(HIT, "- Do: [trace(catch)]", more), seen=seen)
    assert seen == ["catch", "finally"]


def test_errors_of_else_are_not_caught():
    seen = []
    more = "Else: [{Throw: Late}]\nFinally: [trace(finally)]"
    with refused("a.Late"):
        run(tried("- trace(try)", "- Do: [trace(catch)]", more), seen=seen)
    assert seen == ["try", "finally"]


def test_finally_runs_where_an_error_passes():
    seen = []
    with refused("a.Oops"):
        run(tried(HIT, "- With: Other", "Finally: [trace(finally)]"), seen=seen)
    assert seen == ["finally"]


def test_finally_runs_where_the_catch_throws():
    seen = []
    with refused("a.Second"):
        run(tried(HIT, "- Do: [{Throw: Second}]", "Finally: [trace(finally)]"), seen=seen)
    assert seen == ["finally"]


@pytest.mark.parametrize("leave", ["Return: 1", "'Break': ", "'Continue': "])
def test_finally_runs_where_the_block_is_left(leave):
    seen = []
    body = f"- Repeat: 2\n  Do:\n    - Try: [{{{leave}}}]\n      Finally: [trace(finally)]\n- Return: 2"
    run(body.replace("'", ""), seen=seen)
    assert seen == ["finally"] * (2 if "Continue" in leave else 1)


def test_try_with_finally_alone():
    seen = []
    run("- Try: [trace(1)]\n  Finally: [trace(2)]", seen=seen)
    assert seen == [1, 2]


def test_rethrow_raises_what_was_caught():
    seen = []
    with refused("a.Oops") as caught:
        run(tried(HIT, "- Do: [trace(caught), {Rethrow: }]"), seen=seen)
    assert seen == ["caught"]
    assert caught.value.message == "hello"


def test_rethrow_outside_catch():
    with refused("TypeError"):
        run("Rethrow:")


def test_rethrow_after_a_try_in_a_catch_raises_the_outer_error():
    catch = """
    - Do:
        - Try: [{Throw: Inner}]
          Catch: [{With: Inner}]
        - Rethrow:
    """
    with refused("a.Oops"):
        run(tried(HIT, catch))


def test_rethrow_within_an_inner_catch_raises_the_inner_error():
    catch = """
    - Do:
        - Try: [{Throw: Inner}]
          Catch: [{Do: [{Rethrow: }]}]
    """
    with refused("a.Inner"):
        run(tried(HIT, catch))


# Errors of the engine and of Python


def caught_as(name, block, **options):
    return run(tried(block, f"- With: {name}\n  As: e\n  Do: [{{$out: $e.name}}]"), **options)


@pytest.mark.parametrize(
    ("name", "full", "block"),
    [
        ("'py:StopIteration'", "StopIteration", "list().single()"),
        ("'py:StopIteration'", "StopIteration", "list().first()"),
        ("'py:ZeroDivisionError'", "ZeroDivisionError", "1 / 0"),
        ("'py:KeyError'", "KeyError", "dict(a => 1).b"),
        ("'py:IndexError'", "IndexError", "list(1)[5]"),
        ("'py:ValueError'", "ValueError", "null.require()"),
        ("'py:ValueError'", "ValueError", "int(foo)"),
        (NO_MATCH, NO_MATCH, "$.nothing()"),
        (NO_MATCH, NO_MATCH, "$.f(1)"),
        (
            "murano.dsl.exceptions.NoPackageForClassFound",
            "murano.dsl.exceptions.NoPackageForClassFound",
            "new('no.such.Thing')",
        ),
        ("'dsl:NoClassFound'", HISTORIC + "NoClassFound", "new('a.Thing')"),
        (
            "'dsl:ContractViolationException'",
            HISTORIC + "ContractViolationException",
            "new(A, n => foo)",
        ),
        ("'dsl:PropertyReadError'", HISTORIC + "PropertyReadError", "$.nothing"),
        ("'dsl:NoWriteAccessError'", HISTORIC + "NoWriteAccessError", "$.set()"),
        ("'dsl:NoObjectFoundError'", HISTORIC + "NoObjectFoundError", "$.takes('nobody')"),
    ],
)
def test_errors_are_caught_by_their_historic_names(name, full, block):
    methods = """
    f: {}
    set: {Body: [{$.n: 1}]}
    takes: {Arguments: [{x: {Contract: $.class(A)}}]}
    """
    head = "Properties: {n: {Contract: $.int(), Default: 1}}"
    assert caught_as(name, f"- {block}", methods=methods, head=head) == full


def test_a_break_outside_a_loop_is_caught_by_its_name():
    name = caught_as("'dsl:DslInvalidOperationError'", "- $.f()", methods="f: {Body: [{Break: }]}")
    assert name == HISTORIC + "DslInvalidOperationError"


class OddError(LookupError):
    """An error of a function."""


def failing(error):
    def function():
        raise error

    return {"fail": function}


def test_an_error_of_a_function_is_caught_by_its_builtin_name():
    assert caught_as("'py:RuntimeError'", "- fail()", functions=failing(RuntimeError("x"))) == (
        "RuntimeError"
    )


def test_an_error_of_python_has_a_message_and_the_error():
    error = RuntimeError("went wrong")
    with refused("RuntimeError", "thrown") as caught:
        run("fail()", functions=failing(error))
    assert caught.value.original is error
    assert "went wrong" in caught.value.message


def test_another_error_of_python_has_its_dotted_name():
    with refused(f"{OddError.__module__}.OddError"):
        run("fail()", functions=failing(OddError("x")))


@pytest.mark.parametrize(
    "block",
    [
        "new('nope:S')",
        "new(nope:S)",
        "cast($, 'nope:S')",
        "$.find('nope:S')",
        "type('nope:S')",
        "typeinfo('nope:S')",
        "{Throw: 'nope:S'}",
        "{Try: [{Throw: Oops}], Catch: [{With: 'nope:S'}]}",
        "$.f(1)",
        "new(E)",
        "new(I)",
        "new(M)",
    ],
)
def test_a_prefix_that_is_not_declared_is_a_key_error_wherever_it_stands(block):
    classes = {"a.E": "Extends: 'nope:S'", "a.I": "Import: 'nope:S'", "a.M": "Meta: 'nope:S'"}
    methods = "f: {Arguments: [{x: {Contract: $.class(nope:S)}}]}"
    found = caught_as("'py:KeyError'", f"- {block}", classes=classes, methods=methods)
    assert found == "KeyError"


@pytest.mark.parametrize(
    ("text", "name", "full"),
    [
        ("Methods: {m: {Usage: Action, Scope: Session}}", "'py:ValueError'", "ValueError"),
        ("Meta: A", "'py:ValueError'", "ValueError"),
        ("Extends: Note", "'dsl:InvalidInheritanceError'", HISTORIC + "InvalidInheritanceError"),
        ("Extends: S", "'dsl:CircularExpressionDependenciesError'", None),
        (
            "Name: S\n---\nName: S",
            "'dsl:AmbiguousClassName'",
            None,
        ),
    ],
)
def test_what_a_class_cannot_be_built_for_is_caught_by_its_historic_name(text, name, full):
    classes = {"a.S": text, "a.Note": "Usage: Meta"}
    found = caught_as(name, "- new(S)", classes=classes)
    assert found == (full or HISTORIC + name.strip("'").partition(":")[2])


def test_an_engine_error_is_caught_without_a_name():
    assert run(tried("- $.nothing()", "- Do: [{$out: 1}]")) == 1


def test_errors_in_natives_are_caught():
    class S:
        def fail(self):
            raise ValueError("bad")

    assert caught_as("'py:ValueError'", "- new(S).fail()", classes={"a.S": ""}, natives={"a.S": S})


# Frames


DEEP = """
Methods:
  outer:
    Scope: Public
    Body:
      - $x: 1
      - new(B).inner()
"""
LOW = """
Methods:
  inner:
    Body:
      - $x: 1
      - $x: 2
      - Throw: Oops
"""


def test_frames_have_package_version_class_method_file_and_line_innermost_first():
    classes = {"a.A": DEEP, "a.B": LOW}
    with opened(classes) as (session, root), pytest.raises(EngineError) as caught:
        session.call(root, "outer")
    found = [
        (f.package, str(f.version), f.class_name, f.method, f.file, f.line)
        for f in caught.value.frames
    ]
    # `Name` and `Namespaces` are before the text, and an empty line at its start
    assert found == [
        ("a", "1.0.0", "a.B", "inner", "Classes/class1.yaml", 9),
        ("a", "1.0.0", "a.A", "outer", "Classes/class0.yaml", 9),
    ]


def test_the_trace_names_each_level_the_outermost_first():
    classes = {"a.A": DEEP, "a.B": LOW}
    with opened(classes) as (session, root), pytest.raises(EngineError) as caught:
        session.call(root, "outer")
    text = caught.value.format()
    assert text.index("outer") < text.index("inner") < text.index("a.Oops")
    assert "Classes/class0.yaml:9" in text
    assert "Classes/class1.yaml:9" in text


def test_frames_name_the_class_that_declares_the_method():
    classes = {"a.A": DEEP.replace("new(B)", "new(C)"), "a.B": LOW, "a.C": "Extends: B"}
    with opened(classes) as (session, root), pytest.raises(EngineError) as caught:
        session.call(root, "outer")
    assert [each.class_name for each in caught.value.frames] == ["a.B", "a.A"]


def test_a_rethrown_error_keeps_its_frames():
    body = tried("- $.f()", "- Do: [{Rethrow: }]")
    with refused("a.Oops") as caught:
        run(body, methods="f: {Body: [{Throw: Oops}]}")
    assert [each.method for each in caught.value.frames] == ["f", "run"]


LOOKED_FOR = {
    "a static property": ("Return: :A.missing", "no-property"),
    "a static property to assign": (":A.missing: 1", "no-property"),
    "a static method": (":A.run()", "no-method"),
    "a property": ("Return: $.missing", "no-property"),
    "a property of another object": ("Return: new(B).missing", "no-property"),
    "a method of several parents": ("new(B).twice()", "ambiguous"),
    "a class": ("cast($, B)", "no-class"),
    "an argument": ("$.few(1, 2)", "no-match"),
    "a value": ("Return: $.u", "uninitialized"),
    "a prefix": ("Throw: 'nowhere:Oops'", "no-class"),
}
"""Statements that look for something in vain, with the codes of their errors."""


@pytest.mark.parametrize("name", LOOKED_FOR)
@pytest.mark.parametrize("caught", [False, True])
def test_what_is_not_found_has_the_line_of_the_statement(name, caught):
    statement, code = LOOKED_FOR[name]
    body = f"- $x: 1\n- $y: 2\n- {statement}"
    if caught:
        body = tried(
            body, "- As: e\n  Do: [trace($e.stackTrace.frames.first().location.line), Rethrow: ]"
        )
    classes = {
        "a.X": "Methods: {twice: {Body: []}}",
        "a.Y": "Methods: {twice: {Body: []}}",
        "a.B": "Extends: [X, Y]",
    }
    seen = []
    with pytest.raises(EngineError) as found:
        run(
            body,
            head="Properties: {u: {Contract: $.int(), Usage: Runtime}}",
            methods="few: {Body: []}",
            classes=classes,
            seen=seen,
        )
    error = found.value
    assert error.code == code
    assert (error.package, error.class_name, error.file) == ("a", "a.A", "Classes/class3.yaml")
    assert error.line == error.frames[-1].line
    if caught:
        assert seen == [error.line]


def test_what_is_not_found_from_outside_has_the_line_of_the_class():
    text = "\nProperties: {}\nName: a.A"
    with opened({"a.A": text}) as (session, root):
        line = session.type("a.A").declaration.line
        with pytest.raises(EngineError) as caught:
            session.call(root, "missing")
    assert (caught.value.file, caught.value.line) == ("Classes/class0.yaml", line)


@pytest.mark.full
def test_what_is_thrown_with_too_much_has_the_place_of_the_statement():
    body = """
    - $d: [1]
    - Repeat: 60
      Do: [{$d: [$d, $d]}]
    - Throw: Oops
      Extra: $d
    """
    with pytest.raises(EngineError, match="`Extra` of") as caught:
        run(body)
    error = caught.value
    assert error.code == "limit"
    assert (error.package, error.class_name, error.file) == ("a", "a.A", "Classes/class0.yaml")
    assert error.line == error.frames[0].line
    assert [frame.method for frame in error.frames] == ["run"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (
            "super($this, $.nothing())",
            'unknown method "nothing" of the object root of io.murano.Object',
        ),
        ("super($this).nothing()", 'unknown method "nothing" of a list'),
        ("cast($this, 'io.murano.Object').nothing()", 'unknown method "nothing" of the object'),
        ("typeinfo($this).nothing()", 'unknown method "nothing" of the type a.A'),
        ("regex(ab).nothing()", "unknown method \"nothing\" of the pattern 'ab'"),
        ("[1]['a']", "the operator `[]` does not take such values"),
        ("[1].nothing(2)", 'unknown method "nothing" of a list'),
        ("'a'.substring('b')", "no method \"substring\" of 'a' takes such values"),
        ("base64encode(5)", "expected a text, found 5"),
        ("call(5, [])", "expected a text, found 5"),
        ("int([1])", "not a list"),
    ],
)
def test_messages_are_in_the_words_of_the_language(expression, words):
    quoted = expression.replace("'", "''")
    with pytest.raises(EngineError) as caught:
        run(f"Return: !yaql '{quoted}'")
    assert words in caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        "Return: str($i)",
        "Return: !yaql \"'{}'.format($i)\"",
        "Return: !yaql \"'{:d}'.format($i)\"",
        "Return: !yaql \"int('9' * 5000)\"",
        "Return: !yaql \"[$i].join('')\"",
        'Return: !yaql "[1].groupBy($, str($i)).len()"',
        "Throw: Oops\n  Message: $i",
    ],
)
def test_a_number_that_text_cannot_take_is_beyond_a_limit(body):
    with pytest.raises(EngineError, match="more than 4300 digits, which is the most") as caught:
        run(f"- $i: 7\n- Repeat: 15\n  Do: [{{$i: $i * $i}}]\n- {body}")
    assert caught.value.code == "limit"
    assert caught.value.line


@pytest.mark.parametrize("code", [each for each in EngineCode if each is not EngineCode.THROWN])
def test_every_error_has_a_name(code):
    assert EngineError(code, "").names


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (EngineCode.MANIFEST, "murano.packages.exceptions.PackageClassLoadError"),
        (EngineCode.FORMAT, "murano.packages.exceptions.PackageFormatError"),
        (EngineCode.NO_METHOD, "murano.dsl.exceptions.NoMethodFound"),
        (EngineCode.LOCK, "io.trundle.LockError"),
    ],
)
def test_names_of_errors_that_seldom_meet_code(code, name):
    assert name in EngineError(code, "").names


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("range(0, 10000000000).len()", "yaql.language.exceptions.CollectionTooLargeException"),
        ("(' ' * 100000000).len()", "yaql.language.exceptions.MemoryQuotaExceededException"),
        ("[0] * 100000000", "io.trundle.LimitError"),
    ],
)
def test_limits_have_the_names_of_yaqls_errors_where_they_are_yaqls(expression, name):
    with refused(name, "limit"):
        run(f'Return: !yaql "{expression}"')
