"""`inject`: what tests put in the place of methods, whom it concerns, and for how long."""

import pytest
from engines import package
from programs import HISTORIC, NO_MATCH, refused

from trundle.engine import Engine, EngineError

CLASSES = {
    "a.Base": """\
Methods:
  twice:
    Arguments:
      - x: {Contract: $.int().notNull()}
      - y: {Contract: $.int(), Default: 7}
    Body:
      Return: $x * 2
  both:
    Body:
      Return: [$.twice(1), $this.twice(2)]
  two:
    Usage: Static
    Body: {Return: real}
  scaled:
    Usage: Static
    Arguments: [{factor: {Contract: $.int(), Default: 1}}]
    Body: {Return: $factor * 10}
  declaredOnly:
  plus:
    Usage: Extension
    Arguments:
      - text: {Contract: $.string().notNull()}
    Body: {Return: $text + '+'}
  many:
    Arguments:
      - first: {Contract: $}
      - others: {Contract: $, Usage: VarArgs}
      - named: {Contract: $, Usage: KwArgs}
    Body: {Return: real}
""",
    "a.Child": "Namespaces: {=: a}\nExtends: Base\nProperties: {n: {Contract: $, Default: 5}}\n",
    "a.Own": """\
Namespaces: {=: a}
Extends: Base
Methods:
  twice:
    Arguments:
      - x: {Contract: $}
    Body:
      - Return:
        - own
        - super($, $.twice(20))
""",
}
HEAD = """\
Namespaces: {=: a, t: io.murano.test, std: io.murano}
Extends: t:TestFixture
Properties: {n: {Contract: $, Default: test}}
Methods:
  fake:
    Arguments:
      - x: {Contract: $}
    Body:
      Return: [fake, $x, $.n]
  answer:
    Body:
      Return: format('answer {0}', $.n)
  takeAll:
    Arguments:
      - args: {Contract: $, Usage: VarArgs}
      - more: {Contract: $, Usage: KwArgs}
    Body:
      Return: [$args, $more]
  run:
    Body:
"""


def source(body):
    lines = "".join(f"      {each}\n" for each in body.strip().splitlines())
    return package("a", classes={**CLASSES, "a.T": HEAD + lines})


def run(body, *, mocks=True, methods=("run",)):
    with Engine([source(body)]).session(mocks=mocks) as session:
        root = session.load({"?": {"type": "a.T"}})
        return [session.call(root, each, internal=True) for each in methods][-1]


@pytest.mark.parametrize(
    ("body", "result"),
    [
        # By an expression, a constant too
        ("- inject(Base, twice, '42')\n- Return: new(Base).twice(3)", "42"),
        ("- inject(:Base, twice, 42)\n- Return: new(Base).twice(3)", 42),
        ("- inject(Base, twice, null)\n- Return: new(Base).twice(3)", None),
        ("- $k: 5\n- inject(Base, twice, $k + 1)\n- $k: 9\n- Return: new(Base).twice(3)", 6),
        ("- inject(Base, twice, $.n)\n- Return: new(Child).twice(3)", "test"),
        # By a method of an object
        ("- inject(Base, twice, $this, fake)\n- Return: new(Base).twice(3)", ["fake", 3, "test"]),
        ("- inject(Base, twice, $, fake)\n- Return: new(Base).twice(x => 3)", ["fake", 3, "test"]),
        (
            "- inject(Base, many, $, takeAll)\n- Return: new(Base).many(1, 2, 3, k => 4)",
            [[1, 2, 3], {"k": 4}],
        ),
        # The original, and what it was called with
        ("- inject(Base, twice, originalMethod() + 100)\n- Return: new(Base).twice(4)", 108),
        (
            "- inject(Base, twice, withOriginal(a => $x, b => $y) -> [$a, $b])\n- Return: new(Base).twice(4)",
            [4, 7],
        ),
        (
            "- $k: 1\n- inject(Child, twice, withOriginal(a => $.n) -> [$a, $k, $.n])\n- Return: new(Child, n => 8).twice(4)",
            [8, 1, "test"],
        ),
        # Whom it concerns: the class, its children, and not those that override the method
        ("- inject(Base, twice, 0)\n- Return: new(Child).twice(3)", 0),
        ("- inject(Base, twice, 0)\n- Return: new(Own).twice(3)", ["own", [0]]),
        ("- inject(Child, twice, 0)\n- Return: [new(Base).twice(3), new(Child).twice(3)]", [6, 0]),
        ("- inject(Base, twice, 0)\n- inject(Child, twice, 1)\n- Return: new(Child).twice(3)", 1),
        ("- inject(Child, twice, 1)\n- inject(Base, twice, 0)\n- Return: new(Child).twice(3)", 1),
        ("- inject(new(Child), twice, 0)\n- Return: new(Child).twice(3)", 0),
        ("- inject(new(Child), twice, 0)\n- Return: new(Base).twice(3)", 6),
        ("- inject(Base, twice, 0)\n- Return: new(Child).both()", [0, 0]),
        ("- inject(Base, twice, 0)\n- inject(Base, twice, 1)\n- Return: new(Base).twice(3)", 1),
        # A method that was called before
        ("- $o: new(Base)\n- $b: $o.twice(3)\n- inject(Base, twice, 0)\n- Return: [$b, $o.twice(3)]", [6, 0]),
        # Static methods, those without a body, and those of Python
        ("- inject(Base, two, mock)\n- $o: new(Child)\n- Return: [$o.two(), '']", ["mock", ""]),
        ("- inject(Base, two, originalMethod() + '!')\n- Return: :Base.two()", "real!"),
        ("- inject(:Child, two, mock)\n- Return: [!yaql ':Base.two()', !yaql ':Child.two()', !yaql 'new(Child).two()']", ["real", "mock", "mock"]),
        ("- inject(new(Base), two, mock)\n- Return: [!yaql ':Base.two()', !yaql ':Child.two()']", ["mock", "mock"]),
        ("- inject(Base, two, $, answer)\n- Return: [!yaql ':Base.two()', !yaql 'new(Child).two()']", ["answer test", "answer test"]),
        ("- inject(Base, scaled, withOriginal(f => $factor) -> [$f, $.n, originalMethod()])\n- Return: !yaql ':Base.scaled(factor => 4)'", [4, "test", 40]),
        ("- inject(Base, declaredOnly, 3)\n- Return: new(Base).declaredOnly()", 3),
        ("- inject('io.murano.test.TestFixture', assertTrue, mocked)\n- Return: $.assertTrue(false)", "mocked"),
        # Lazy sequences are computed
        ("- inject(Base, twice, [1, 2, 3].where($ > 1))\n- Return: new(Base).twice(3)", [2, 3]),
    ],
)  # fmt: skip
def test_a_mock_answers(body, result):
    assert run(body) == result


@pytest.mark.parametrize(
    ("body", "name", "message"),
    [
        ("- inject(Base, thrice, 0)", "yaql.language.exceptions.NoMethodRegisteredException",
         "did you mean twice"),
        ("- inject(Base, '.init', 0)", "yaql.language.exceptions.NoMethodRegisteredException", ".init"),
        ("- inject(Base, plus, 0)", HISTORIC + "DslInvalidOperationError",
         "found the extension method plus; replace a method that it calls"),
        ("- inject(Base, twice, $this, nothing)",
         "yaql.language.exceptions.NoMethodRegisteredException", "a method nothing"),
        ("- inject(Base, twice, null, fake)",
         "yaql.language.exceptions.NoMethodRegisteredException", "a method fake, found nothing"),
        ("- inject(Nothing, twice, 0)", HISTORIC + "NoClassFound", "Nothing"),
        # The arguments and contracts of the method hold for the mock, too
        ("- inject(Base, twice, 0)\n- new(Base).twice()", HISTORIC + "ContractViolationException", "expected a value, found nothing"),
        ("- inject(Base, twice, 0)\n- new(Base).twice(1, 2, 3)", NO_MATCH, "3 values"),
        ("- Return: withOriginal(a => 1) -> $a", "ValueError", "outside of an expression that `inject`"),
    ],
)  # fmt: skip
def test_what_cannot_be_replaced_is_refused(body, name, message):
    with refused(name) as caught:
        run(body)
    assert message in str(caught.value)


def test_an_error_in_a_mock_names_the_method_and_the_test():
    with pytest.raises(EngineError) as caught:
        run("- inject(Base, twice, 1 / 0)\n- new(Child).twice(3)")
    assert "ZeroDivisionError" in caught.value.names
    assert [each.method for each in caught.value.frames] == ["twice", "run"]


def test_mocks_end_with_their_session():
    engine = Engine([source("- inject(Base, twice, 0)\n- Return: new(Base).twice(3)")])
    for expected in (True, False):
        with engine.session(mocks=True) as session:
            root = session.load({"?": {"type": "a.T"}})
            base = session.load({"?": {"type": "a.Base"}})
            if expected:
                assert session.call(root, "run", internal=True) == 0
            assert session.call(base, "twice", [3], internal=True) == (0 if expected else 6)


def test_other_sessions_know_no_mocks():
    with refused("yaql.language.exceptions.NoFunctionRegisteredException") as caught:
        run("- inject(Base, twice, 0)", mocks=False)
    assert "trundle package test" in str(caught.value)


def test_what_only_a_mock_leads_to_is_not_destroyed():
    body = """
- $o: new(Child, n => alone)
- inject(Base, twice, $o.n)
- $o: null
- $o: new(Child, n => other)
- Return: new('io.murano.system.GC')
"""
    with Engine([source(body)]).session(mocks=True) as session:
        root = session.load({"?": {"type": "a.T"}})
        base = session.load({"?": {"type": "a.Base"}})
        session.call(root, "run", internal=True)
        session.finish()
        assert session.call(base, "twice", [3], internal=True) == "alone"


def test_a_mock_works_in_branches_that_take_turns():
    body = """
- inject(Base, twice, withOriginal(x => $x) -> $x * 10)
- $o: new(Base)
- $all: [1, 2, 3]
- Return: $all.pselect($o.twice($))
"""
    assert run(body) == [10, 20, 30]
