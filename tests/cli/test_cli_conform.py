import json

import pytest

BEFORE = {"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "alphaKey": "k"}
AFTER = {"apiVersion": "2015-05-05", "kind": "Person", "id": "a", "sortKey": "k"}


def lines(*pairs):
    return "".join(json.dumps({"before": before, "after": after}) + "\n" for before, after in pairs)


def data(result):
    return json.loads(result.stdout)


def test_what_is_equal_leads_to_no_difference(generated):
    generated.write("pairs.jsonl", lines((BEFORE, AFTER), (BEFORE, AFTER)))
    result = generated.run("conform", "pairs.jsonl", "--both", "-o", "json")
    assert result.exit_code == 0
    found = data(result)
    assert found["pairs"] == 2
    assert found["differences"] == []
    assert [(each["from"], each["to"], each["equal"]) for each in found["checks"]] == [
        ("2014-04-04", "2014-04-04", 2),
        ("2014-04-04", "2015-05-05", 2),
        ("2015-05-05", "2014-04-04", 2),
        ("2015-05-05", "2015-05-05", 2),
    ]
    assert "2 pairs, no differences, 0 as expected" in result.stderr


def test_pairs_may_stand_in_a_list(generated):
    pairs = [{"before": BEFORE, "after": AFTER}, {"before": BEFORE, "after": {**AFTER, "id": "b"}}]
    generated.write("pairs.json", json.dumps(pairs, indent=1))
    result = generated.run("conform", "pairs.json", "-o", "json")
    assert data(result)["pairs"] == len(pairs)
    (found,) = data(result)["differences"]
    assert found["example"]["where"] == "pairs.json:16"


def test_the_same_difference_in_several_documents_is_one_entry(generated):
    other = {**AFTER, "sortKey": "K"}
    generated.write("pairs.jsonl", lines((BEFORE, AFTER), (BEFORE, other), (BEFORE, other)))
    result = generated.run("conform", "pairs.jsonl", "-o", "json")
    assert result.exit_code == 3
    assert data(result)["differences"] == [
        {
            "resource": "Person",
            "from": "2014-04-04",
            "to": "2015-05-05",
            "path": "sortKey",
            "difference": "changed",
            "documents": 2,
            "example": {
                "where": "pairs.jsonl:2",
                "path": "sortKey",
                "expected": '"K"',
                "found": '"k"',
            },
        }
    ]


def test_the_table_shows_expected_and_found(generated):
    generated.write("pairs.jsonl", lines(({**BEFORE, "level": "high"}, {**AFTER, "level": 3})))
    result = generated.run("conform", "pairs.jsonl", "--both")
    assert result.exit_code == 3
    assert "Person 2014-04-04 to 2015-05-05: level is missing in 1 of 1 documents" in result.stdout
    assert "  expected: 3\n  found:    nothing\n  example:  pairs.jsonl:1 at level" in result.stdout
    assert "Person 2015-05-05 to 2014-04-04: level is missing in 1 of 1" in result.stdout


def test_expected_differences_are_listed_with_reasons(generated):
    generated.write("pairs.jsonl", lines(({**BEFORE, "level": "high"}, {**AFTER, "level": 3})))
    generated.write(
        "expected.yaml",
        """\
        - path: level
          version: 2015-05-05
          difference: missing
          reason: the other one reads words as numbers
        - path: [sortKey, id]
          reason: never
        """,
    )
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert result.exit_code == 0
    assert (
        "2014-04-04 to 2015-05-05: level is missing in 1 of 1 documents: the other one reads words as numbers"
        in result.stdout
    )
    assert (
        "note: expected.yaml:5: sortKey is listed as expected, and was not found" in result.stderr
    )
    assert "note: expected.yaml:5: id is listed" in result.stderr
    back = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml", "--both")
    assert back.exit_code == 3  # Only the documents of the newer version are excused.


def test_what_go_writes_for_nothing_is_expected_at_once(generated):
    nothing = {"note": "", "count": 0, "on": False, "box": {"a": [], "b": {"c": None}}, "size": "0"}
    pair = (BEFORE, {**AFTER, **nothing, "time": "0s", "id": "b", "more": {"a": "", "b": [""]}})
    generated.write("pairs.jsonl", lines(pair))
    entry = "- {path: '**', value: %s, reason: Go writes them}\n"
    generated.write("expected.yaml", entry % "empty")
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml", "-o", "json")
    assert result.exit_code == 3
    forth = [each for each in data(result)["expected"] if each["from"] == "2014-04-04"]
    assert {each["path"] for each in forth} == {*nothing, "time"}
    rest = {each["path"] for each in data(result)["differences"] if each["from"] == "2014-04-04"}
    assert rest == {"id", "more"}
    assert "excuses" not in result.stderr
    generated.write("expected.yaml", entry % "null")
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert "expected.yaml:1: " in result.stderr
    assert "empty" in result.stderr


MAPS = """\
title: Person
type: object
properties:
  id: {type: string}
  tags: {type: object, additionalProperties: {type: string}}
  spec:
    type: object
    properties:
      note: {type: string}
      chosen: {type: object, additionalProperties: {type: string}}
  any: {}
"""


def test_a_member_of_a_map_is_never_nothing(empty):
    # Go writes each member of a map, also one with an empty value, such as a label of a node.
    for version in ("v1", "v2"):
        empty.write(f"schemas/{version}.yaml", MAPS)
    empty.write("trundle.yaml", "package: people\nsources: [schemas]\n")
    assert empty.run("generate").exit_code == 0
    before = {"apiVersion": "v1", "kind": "Person", "id": "a", "tags": {"x": "y"}}
    after = {**before, "apiVersion": "v2"}
    lost = [
        {"tags": {"x": "y", "gpu": ""}},
        {"spec": {"note": "", "chosen": {"gpu": ""}}},
        {"metadata": {"labels": {"gpu": ""}}},
        {"any": {"gpu": None}},
    ]
    nothing = [
        {"spec": {"note": "", "chosen": {}}},
        {"metadata": {"creationTimestamp": None, "labels": {}}},
        {"any": {}},
    ]
    entry = "- {path: '**', value: empty, reason: Go writes them}\n"
    empty.write("expected.yaml", entry)
    for each in (*lost, *nothing):
        empty.write("pairs.jsonl", lines((before, {**after, **each})))
        result = empty.run("conform", "pairs.jsonl", "--except", "expected.yaml", "-o", "json")
        assert result.exit_code == (3 if each in lost else 0), (each, result.output)


def test_a_list_of_expected_differences_is_checked(generated):
    generated.write("pairs.jsonl", lines((BEFORE, AFTER)))
    generated.write("expected.yaml", "- path: a..b\n  reason: x\n  diference: y\n- path: c\n")
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert result.exit_code == 3
    assert "expected.yaml:1: expected a path such as" in result.stderr
    assert "did you mean difference?" in result.stderr
    assert "expected.yaml:4: expected the key reason" in result.stderr


def test_a_document_that_is_refused_is_a_difference_with_its_reason(generated):
    wrong = {**BEFORE, "alphaKay": "x"}
    generated.write("pairs.jsonl", lines((wrong, AFTER), (wrong, AFTER)))
    result = generated.run("conform", "pairs.jsonl", "-o", "json")
    assert result.exit_code == 3
    found = data(result)["differences"]
    assert {(each["path"], each["difference"], each["documents"]) for each in found} == {
        ("alphaKay", "refused", 2)
    }
    table = generated.run("conform", "pairs.jsonl").stdout
    assert "alphaKay is refused in 2 of 2 documents\n  reason:   " in table


def test_nulls_are_tolerated_on_both_sides_by_lenient(generated):
    generated.write(
        "pairs.jsonl", lines(({**BEFORE, "age": None}, {**AFTER, "age": None, "sortKey": None}))
    )
    assert generated.run("conform", "pairs.jsonl").exit_code == 3
    result = generated.run("conform", "pairs.jsonl", "--lenient", "-o", "json")
    ((found,), checks) = (data(result)["differences"], data(result)["checks"])
    assert (found["path"], found["difference"]) == ("sortKey", "unexpected")
    assert [each["equal"] for each in checks] == [1, 0, 1]


def test_no_list_excuses_what_storage_loses(generated, monkeypatch):
    from trundle.runtime import Scheme

    convert = Scheme.convert_json

    def losing(self, data, to=None, *arguments, **options):
        return convert(
            self, data.replace(b'"sortKey":"k"', b'"sortKey":""'), to, *arguments, **options
        )

    generated.write("pairs.jsonl", lines((BEFORE, AFTER)))
    generated.write("expected.yaml", "- {path: '**', reason: all is well}\n")
    monkeypatch.setattr(Scheme, "convert_json", losing)
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert result.exit_code == 3
    assert "2014-04-04 through storage: alphaKey is changed in 1 of 1 documents" in result.stdout


def test_a_refused_document_that_is_listed_is_expected_through_storage_too(generated):
    wrong = {**BEFORE, "alphaKay": "x"}
    generated.write("pairs.jsonl", lines((wrong, AFTER)))
    for version in ("2014-04-04", "2015-05-05"):
        listed = (
            f"- {{path: alphaKay, version: {version}, difference: refused, reason: a bad one}}\n"
        )
        generated.write("expected.yaml", listed)
        result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml", "-o", "json")
        ways = {(each["from"], each["to"]) for each in data(result)["expected"]}
        # Both checks read the older document; the newer version is that of the conversion alone.
        storage = {("2014-04-04", "2014-04-04")} if version == "2014-04-04" else set()
        assert ways == {("2014-04-04", "2015-05-05")} | storage
        assert result.exit_code == (0 if storage else 3)


@pytest.mark.parametrize("path", ["'**'", "'*.**'"])
def test_a_list_that_excuses_everything_is_noted(generated, path):
    generated.write("pairs.jsonl", lines((BEFORE, {**AFTER, "sortKey": "K"})))
    generated.write("expected.yaml", f"- {{path: {path}, reason: all is well}}\n")
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert result.exit_code == 0
    assert f"note: expected.yaml:1: {path[1:-1]} excuses every difference" in result.stderr
    generated.write("expected.yaml", "- {path: 'sortKey.**', reason: all is well}\n")
    result = generated.run("conform", "pairs.jsonl", "--except", "expected.yaml")
    assert "excuses every" not in result.stderr


@pytest.mark.parametrize("version", ["2014-04-04", "v20140404"])
def test_a_pair_of_one_version_is_an_error(generated, version):
    generated.write("pairs.jsonl", lines((BEFORE, {**BEFORE, "apiVersion": version})))
    result = generated.run("conform", "pairs.jsonl")
    assert result.exit_code == 1
    assert "pairs.jsonl:1: expected documents of two versions, found 2014-04-04" in result.stderr


def test_documents_may_stand_in_two_files_or_two_folders(generated):
    generated.write("before.json", json.dumps(BEFORE) + json.dumps({**BEFORE, "id": "b"}))
    generated.write("after.json", json.dumps(AFTER) + json.dumps({**AFTER, "id": "b"}))
    assert generated.run("conform", "before.json", "after.json").exit_code == 0
    generated.write("before/one/a.yaml", json.dumps(BEFORE))
    generated.write("after/one/a.yaml", json.dumps(AFTER))
    result = generated.run("conform", "before", "after", "-o", "json")
    assert result.exit_code == 0
    assert data(result)["pairs"] == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (("before.json",), "before.json:1: expected a pair, an object with `before` and `after`"),
        (("before.json", "two.json"), "two.json: expected 1 documents, as in before.json, found 2"),
        (("folder", "other"), "other: expected the file a.json, as in folder, found none"),
        (("empty",), "empty: expected files of documents"),
        (("bare.jsonl",), "bare.jsonl:1: expected `apiVersion` in the document before"),
    ],
)
def test_files_without_pairs_are_an_error(generated, files, message):
    generated.write("before.json", json.dumps(BEFORE))
    generated.write("two.json", json.dumps(AFTER) * 2)
    generated.write("folder/a.json", json.dumps(BEFORE))
    generated.write("other/b.json", json.dumps(AFTER))
    (generated.folder / "empty").mkdir()
    generated.write("bare.jsonl", lines(({"kind": "Person", "id": "a"}, AFTER)))
    result = generated.run("conform", *files)
    assert result.exit_code == 1
    assert message in result.stderr


def test_versions_and_resource_types_can_be_given(generated):
    generated.write("pairs.jsonl", lines(({"id": "a"}, {"id": "a"})))
    options = ("--from", "2014-04-04", "--to", "2015-05-05", "--resource", "Person")
    result = generated.run("conform", "pairs.jsonl", *options, "-o", "json")
    found = {(each["path"], each["difference"]) for each in data(result)["differences"]}
    assert found <= {("apiVersion", "unexpected"), ("kind", "unexpected")}
