import json
import string
from decimal import Decimal

import msgspec
import pytest
import yaml
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.documents import (
    UnreadableError,
    compact,
    parse_exact_values,
    parse_json,
    parse_values,
    plain,
)
from trundle.project.documents import (
    Document,
    parse_documents,
    read_documents,
    write_documents,
    write_values,
)


def read(text, name="f.yaml"):
    data = text if isinstance(text, bytes) else text.encode()
    return [document.data.decode() for document in read_documents(data, name)]


def refuse(text, name="f.yaml"):
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(UnreadableError) as caught:
        read_documents(data, name)
    assert str(caught.value).startswith(f"{name}:{caught.value.line}: expected ")
    return caught.value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1.10", "1.10"),
        ("1e5", "1e5"),
        ("-0", "-0"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("9" * 5000, "9" * 5000),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("+3", "3"),
        (".5", "0.5"),
        ("-.5e3", "-0.5e3"),
        ("1.", "1.0"),
        ("true", "true"),
        ("FALSE", "false"),
        ("~", "null"),
        ("", "null"),
        ("!!str 12", '"12"'),
        ("!!int 0x10", "16"),
        ("!!float 1.50", "1.50"),
        ("'12'", '"12"'),
        ("2014-04-04", '"2014-04-04"'),
        ("2001-12-14t21:59:43.10-05:00", '"2001-12-14t21:59:43.10-05:00"'),
        ("1.10.3", '"1.10.3"'),
        ("1_000", '"1_000"'),
        ("12:30", '"12:30"'),
        ("0b1", '"0b1"'),
        ("012", '"012"'),
        ("yes", '"yes"'),
        ("Off", '"Off"'),
        ("NaN", '"NaN"'),
        ("<<", '"<<"'),
        ("=", '"="'),
    ],
)
def test_a_yaml_scalar_means_what_yaml_1_2_says(written, meant):
    assert read(f"a: {written}") == [f'{{"a":{meant}}}']


def test_json_keeps_its_bytes():
    text = '{"a" : 1.10,\n "b":[1E5,12345678901234567890123, -0.0],"c":"\\u00e9\\/"}'
    assert read(text, "f.json") == [text]
    assert read(text, "-") == [text]
    assert read(text, "f.yaml") == [text]


def test_json_documents_may_stand_one_after_another():
    assert read_documents(b'\n{"a":1}{"b":2}\n\n [3]\n', "f.json") == [
        Document(b'{"a":1}', 2),
        Document(b'{"b":2}', 2),
        Document(b"[3]", 4),
    ]


def test_yaml_documents_are_parted_by_markers_and_know_their_line():
    text = b"# comment\n---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n"
    assert read_documents(text, "f.yaml") == [Document(b'{"a":1}', 3), Document(b'{"b":2}', 8)]


def test_flow_yaml_is_read_from_a_yaml_file_only():
    assert read("{a: 1}") == ['{"a":1}']
    assert refuse("{a: 1}", "-").expected == "a key in double quotes"
    assert refuse("{a: 1}", "f.json").found == "'a'"


def test_a_byte_order_mark_is_not_content():
    assert read(b'\xef\xbb\xbf{"a":1}') == ['{"a":1}']
    assert read(b"\xef\xbb\xbfa: 1") == ['{"a":1}']


def test_an_alias_stands_for_its_value():
    assert read("a: &x {b: [1.10]}\nc: *x\nd: &y t\ne: *y") == [
        '{"a":{"b":[1.10]},"c":{"b":[1.10]},"d":"t","e":"t"}'
    ]


@pytest.mark.parametrize(
    ("text", "line", "expected", "found"),
    [
        ("a: 1\nb: 2\na: 3", 3, "each key once in an object", "'a' a second time"),
        ('{"a": 1,\n"a": 2}', 2, "each key once in an object", "'a' a second time"),
        ('{"\\u0061": 1,\n"a": 2}', 2, "each key once in an object", "'a' a second time"),
        ("a: 1\n1: 2", 2, "text as key", "the value '1'"),
        ("true: 2", 1, "text as key", "the value 'true'"),
        ("~: 2", 1, "text as key", "nothing"),
        ("? [a]\n: 1", 1, "text as key", "a list"),
        ("b: 1\n<<: {a: 1}", 2, "keys of the object itself", "the merge key '<<'"),
        ("a: .nan", 1, "a finite number", ".nan"),
        ("a:\n- -.INF", 2, "a finite number", "-.INF"),
        ('{"a":\n -Infinity}', 2, "a finite number", "'-Infinity'"),
        ('{"a": NaN}', 1, "a finite number", "'NaN'"),
        ('["\\ud800"]', 1, "pairs of surrogate escapes", "'\"\\\\ud800\"'"),
        (
            "a: &a [*a]",
            1,
            "an alias of an earlier, complete value",
            "*a, which stands inside itself",
        ),
        ("a: *b", 1, "an alias of an earlier, complete value", "*b, which names none"),
        ("a: \x07", 1, "printable text", "the character U+0007"),
        ("a: x\u2028y", 1, "printable text", "the character U+2028"),
        ("a: x\u0085y", 1, "printable text", "the character U+0085"),
        ("a: !!set {b}", 1, "a value without a tag", "the tag tag:yaml.org,2002:set"),
        (b"a: 1\nb: \xff", 2, "UTF-8 text", "the byte 0xff"),
        ("a: 1".encode("utf-16"), 1, "UTF-8 text", "UTF-16"),
        ("", 1, "a document", "nothing"),
        ("# only\n---\n", 1, "a document", "nothing"),
    ],
)
def test_what_cannot_be_read_exactly_is_an_error_that_names_the_line(text, line, expected, found):
    error = refuse(text)
    assert (error.line, error.expected, error.found) == (line, expected, found)
    assert error.advice


@pytest.mark.parametrize(
    "text", ["a: !foo 1", "a: !!int x", "a: !!bool 1", "a: !!python/name:os.system x"]
)
def test_a_tag_that_is_unknown_or_does_not_fit_is_an_error(text):
    assert refuse(text).expected == "a value without a tag, or one that its tag fits"


@pytest.mark.parametrize(
    "text", ["a: [1\nb: 2", "a:\n\tb: 1", "a: 'x", "a: b: c", "- a\nb: 1", "%YAML 9.9\na: 1"]
)
def test_broken_yaml_is_an_error(text):
    assert refuse(text).expected == "valid YAML"


def test_a_tab_in_the_indentation_is_called_so():
    error = refuse("a:\n  b: 1\n\tc: 2\n")
    assert (error.line, error.found, error.advice) == (
        3,
        "a tab in the indentation",
        "indent with spaces",
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,}',
        '{"a" 1}',
        "[1 2]",
        "[01]",
        "[1.]",
        "[+1]",
        "[tru]",
        '["\t"]',
        '["a',
        "[",
        "{",
        "[1}",
        "[1]]",
        "[\u00a01]",
    ],
)
def test_broken_json_is_an_error(text):
    assert refuse(text, "f.json").line == 1


@pytest.mark.parametrize(
    "text", ["[" * 10_000, '{"a":' * 10_000, "- " * 10_000, "x: [" + "[" * 10_000]
)
@pytest.mark.parametrize("name", ["f.yaml", "-"])
def test_too_many_levels_are_an_error(text, name):
    assert refuse(text, name).found == "deeper nesting"


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
@pytest.mark.parametrize("escape", ["\\ud800", "\\U00110000", "\\xzz", "\\q"])
def test_an_escape_that_is_no_character_is_an_error(monkeypatch, loader, escape):
    monkeypatch.setattr("trundle.documents._compose._LOADER", loader)
    assert refuse(f'a: "{escape}"').line == 1


def test_two_hundred_levels_are_read_and_written():
    for text in ("[" * 200 + "]" * 200, '{"a":' * 200 + "1" + "}" * 200):
        for form in ("json", "yaml"):
            assert (
                read(write_documents([text.encode()], form), f"f.{form}") == [text]
                or form == "json"
            )


def test_aliases_cannot_exhaust_memory():
    lines = ["a0: &a0 [xxxxxxxxxx]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 15)]
    assert "aliases that add at most" in refuse("\n".join(lines)).expected


def test_aliases_cannot_exceed_the_depth():
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 300)]
    assert refuse("\n".join(lines)).found == "deeper nesting"


def test_yaml_is_written_for_people():
    data = b'{"kind":"Person","spec":{"ports":[80,1.10],"on":"no","none":{},"script":"a\\n  b\\n","tags":["x y",[1,{"k":"v","l":[]}]],"at":"2014-04-04"},"2014":"12"}'
    assert write_documents([data, b"[1]"], "yaml") == (
        "kind: Person\n"
        "spec:\n"
        "  ports:\n"
        "    - 80\n"
        "    - 1.10\n"
        '  "on": "no"\n'
        "  none: {}\n"
        "  script: |\n"
        "    a\n"
        "      b\n"
        "  tags:\n"
        "    - x y\n"
        "    - - 1\n"
        "      - k: v\n"
        "        l: []\n"
        '  at: "2014-04-04"\n'
        '"2014": "12"\n'
        "---\n"
        "- 1\n"
    )


def test_json_is_written_for_people():
    assert write_documents([b'{"a":[1.10,{}],"b":{"c":[]}}', b"[]"], "json") == (
        '{\n  "a": [\n    1.10,\n    {}\n  ],\n  "b": {\n    "c": []\n  }\n}\n[]\n'
    )


@pytest.mark.parametrize("data", [b"", b"1 2", b"{", b"\xff"])
def test_only_json_values_are_written(data):
    with pytest.raises(UnreadableError, match=r"document 1:1: expected"):
        write_documents([data], "yaml")


_TRICKY = st.sampled_from(
    [
        "",
        " ",
        "no",
        "~",
        "null",
        "1",
        "1.10",
        "0x1",
        "1e5",
        "012",
        "1:30",
        "2014-04-04",
        "<<",
        "=",
        "-",
        "?",
        ":",
        "a: b",
        "a #b",
        "#",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a",
        "- a",
        "---",
        "...",
        "{a",
        "[a",
        "a:",
        "a\n",
        "\n",
        "\na",
        "a\n\n",
        " a\nb",
        "a\n b\n",
        "a\n\tb",
        "a\n \nb",
        "a \nb",
        "a\r\nb",
        "a\u2028b",
        "a\x85b",
        "\ufeff",
        "a\n\nb\n",
        "x" * 2000,
        "é" * 90,
        "\U0001f600",
        "\x7f",
        "\x00",
        "'",
        '"',
        "\\",
        ".inf",
        ".nan",
        "y",
        "NaN",
    ]
)
_TEXT = (
    st.text()
    | _TRICKY
    | st.text(alphabet="ab \n\t-:#'\"|>&*!%@,[]{}?0.1e+_~=<", max_size=12)
    | st.text(alphabet=string.printable, max_size=30)
)
_NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,5})?([eE][-+]?[0-9]{1,3})?", fullmatch=True
)


def _text(value):
    return json.dumps(value, ensure_ascii=False)


def _map(pairs):
    return "{" + ",".join(f"{_text(key)}:{value}" for key, value in pairs.items()) + "}"


_JSON = st.recursive(
    _NUMBERS | _TEXT.map(_text) | st.sampled_from(["true", "false", "null"]),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]")
        | st.dictionaries(_TEXT, inner, max_size=4).map(_map)
    ),
    max_leaves=12,
)
_DOCUMENTS = st.lists(
    st.dictionaries(_TEXT, _JSON, max_size=4).map(_map)
    | st.lists(_JSON, max_size=4).map(lambda items: f"[{','.join(items)}]"),
    min_size=1,
    max_size=3,
)


@pytest.mark.full
@given(_DOCUMENTS)
@settings(max_examples=amount(600), deadline=None)
def test_yaml_that_is_written_reads_back_exactly(documents):
    text = write_documents([document.encode() for document in documents], "yaml")
    assert read(text) == documents


@given(_DOCUMENTS)
@settings(max_examples=amount(200), deadline=None)
def test_json_that_is_written_reads_back_exactly(documents):
    text = write_documents([document.encode() for document in documents], "json")
    back = [compact(parsed.root) for parsed in parse_json(text, "f.json")]
    assert back == documents
    assert len(read(text, "-")) == len(documents)


@given(st.dictionaries(_TEXT, _TEXT, max_size=4))
@settings(max_examples=amount(300), deadline=None)
def test_readers_of_yaml_1_1_see_the_same_text(value):
    written = write_documents([json.dumps(value, ensure_ascii=False).encode()], "yaml")
    assert yaml.load(written, Loader=yaml.CSafeLoader) == value


@given(_NUMBERS)
def test_numbers_keep_their_value_and_spelling(number):
    (document,) = read(f"a: {number}")
    assert document == f'{{"a":{number}}}'
    assert json.loads(document, parse_float=Decimal)["a"] == Decimal(number)


@given(
    st.binary(max_size=60)
    | st.text(alphabet="ab01:-[]{},\"'\n &*!|>#?%", max_size=40).map(str.encode)
)
@settings(max_examples=amount(500), deadline=None)
def test_whatever_is_read_is_json_or_a_document_error(data):
    lines = range(1, data.count(b"\n") + data.count(b"\r") + 2)
    for name in ("f.yaml", "f.json", "-"):
        try:
            documents = read_documents(data, name)
        except UnreadableError as error:
            documents = []
            line = error.line
        else:
            line = documents[0].line
        assert line in lines
        for document in documents:
            json.loads(document.data)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "a: 2020-01-01\nb: ['1', 1, 1.5, ~, true]\n'3': x\n",
            {"a": "2020-01-01", "b": ["1", 1, 1.5, None, True], "3": "x"},
        ),
        (
            '{"\\u0061": {"n": 123456789012345678901234567890, "e": "\\n"}}',
            {"a": {"n": 123456789012345678901234567890, "e": "\n"}},
        ),
        ("[]", []),
    ],
)
def test_nodes_have_plain_values(text, value):
    parsed = parse_documents(text.encode(), "f.yaml")
    found = [plain(each.root) for each in parsed]
    assert found == [value]
    assert found == [json.loads(each.data) for each in parsed]


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=amount(300))
@given(_VALUES)
def test_values_are_written_as_the_json_of_them(value):
    data = json.dumps(value, ensure_ascii=False).encode()
    for form in ("json", "yaml"):
        assert write_values([value], form) == write_documents([data], form)
    assert json.loads(write_values([value], "json")) == value


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("\ud800", UnreadableError),
        (float("nan"), ValueError),
        ({1: 2}, TypeError),
        ([object()], TypeError),
    ],
)
def test_what_is_no_plain_value_is_not_written(value, error):
    with pytest.raises(error):
        write_values([value], "json")


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,4})?", fullmatch=True
)
SPELT = st.recursive(
    NUMBERS | st.sampled_from(["true", "false", "null", '""', '"a"']),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda each: f"[{','.join(each)}]")
        | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4).map(
            lambda each: "{" + ",".join(f'"{key}":{value}' for key, value in each.items()) + "}"
        )
    ),
    max_leaves=10,
)


@settings(max_examples=amount(100))
@given(text=SPELT)
def test_values_read_exactly_are_written_as_they_were_spelt(text):
    value = parse_exact_values(text.encode(), file="a.json", largest=10_000)
    assert msgspec.json.encode(value).decode() == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": [{"b": 1, "b": 2}]}', "a.json: expected each key once in an object, found 'b' a second time"),
        (b'{"a":\n 1,}', "a.json:2: expected valid JSON, found a mistake in column"),
        (b"\xef\xbb\xbf1", "a.json:1: expected valid JSON"),
        (b"[Infinity]", "a.json: expected valid JSON, found a mistake: Infinity is not a JSON number"),
        (b'["\\udc00"]', "a.json: expected Unicode text, found half a surrogate pair"),
        (b'["\xff"]', "a.json:1: expected UTF-8 text, found the byte 0xff"),
        (b"[" * 90_000, "a.json: expected fewer levels"),
        (b" " * 100_001, "a.json: expected a file of at most 100,000 bytes, found 100,001 bytes"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_exactly_is_refused(data, message):
    with pytest.raises(UnreadableError) as caught:
        parse_exact_values(data, file="a.json", largest=100_000)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("size", "file"), [(1_000, "a.json:2"), (1_100_000, "a.json")])
def test_a_long_text_with_a_key_twice_is_refused_without_reading_it_again_for_the_line(size, file):
    text = f'{{"a": "{"x" * size}",\n"b": 1, "b": 2}}'
    with pytest.raises(UnreadableError) as caught:
        parse_values(text.encode(), file="a.json", yaml=False)
    assert str(caught.value).startswith(f"{file}: expected each key once in an object, found 'b'")
