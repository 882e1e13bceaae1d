"""The page Versions over 300 resource types: the list, the search, and answers to what is not there."""

import json
import re

import asgi
import pytest

from trundle.dashboard import ShownProject, page_application
from trundle.project import evolution_of
from trundle.schema.readers import Source

VERSIONS = ("2024-01-01", "2025-01-01")
NUMBER = 300


def schema(number):
    """A resource type whose newer version has one more property; every tenth one has an enum."""
    older = {"name": {"type": "string", "description": f"What number {number} is <called>."}}
    newer = {**older, f"size{number}": {"type": "integer", "default": 3, "minimum": 1}}
    if number % 10 == 0:
        newer["tier"] = {"type": "string", "enum": ["gold", f"tin{number}"]}
    return [
        {"title": f"Thing{number:03}", "type": "object", "properties": properties}
        for properties in (older, newer)
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    for number in range(NUMBER):
        for version, each in zip(VERSIONS, schema(number), strict=True):
            place = folder / version / f"thing{number}.json"
            place.parent.mkdir(exist_ok=True)
            place.write_text(json.dumps(each))
    return page_application({"": ShownProject(evolution_of([Source(folder)]))})


def names(answer):
    return re.findall(r"<h2><a [^>]+>([^<]+)</a></h2>", answer.text)


@pytest.mark.full
def test_a_list_has_a_part_and_all_when_asked(page):
    part = asgi.call(page, "GET", "/ui/versions")
    assert (len(names(part)), "Show all 300" in part.text) == (60, True)
    everything = asgi.call(page, "GET", "/ui/versions", all="1")
    assert names(everything) == [f"Thing{number:03}" for number in range(NUMBER)]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("thing12", [f"Thing{number}" for number in range(120, 130)]),
        ("SIZE17", ["Thing017", *(f"Thing{number}" for number in range(170, 180))]),
        ("tin290", ["Thing290"]),
        ("gold", [f"Thing{number:03}" for number in range(0, NUMBER, 10)]),
        ("%", []),
    ],
)
def test_types_properties_and_values_are_found(page, word, found):
    assert names(asgi.call(page, "GET", "/ui/versions", q=word)) == found


def test_what_schemas_say_is_text_and_no_markup(page):
    thing = {"of": "", "type": "Thing007"}
    text = asgi.call(page, "GET", "/ui/versions/type", v=VERSIONS[1], **thing).text
    assert "What number 7 is &lt;called&gt;." in text
    assert "Default <code>3</code>" in text
    assert "minimum <code>1</code>" in text
    asked = asgi.call(page, "GET", "/ui/versions", q="<script>").text
    assert "<script>" not in asked
    assert "&lt;script&gt;" in asked


def test_two_versions_show_the_changes_of_one_type_alone(page):
    thing = {"of": "", "type": "Thing120"}
    text = asgi.call(page, "GET", "/ui/versions/type", v=list(VERSIONS), **thing).text
    assert re.findall(r">(size\d+|tier)</a>", text) == ["size120", "tier"]
    assert "Thing119" not in text


@pytest.mark.parametrize(
    ("path", "query", "code", "said"),
    [
        ("type", {"type": "Thin007"}, 404, "Thing007"),
        (
            "type",
            {"type": "Thing007", "of": "x"},
            404,
            "expected a project of this page, found &#39;x&#39;",
        ),
        ("type", {}, 404, "a resource"),
        ("type", {"type": "Thing007", "v": "2023-01-01"}, 404, "2024-01-01"),
        ("type", {"type": "Thing007", "v": "soon"}, 400, "soon"),
        ("property", {"type": "Thing007", "name": "Thing007.naem"}, 404, "name"),
        ("property", {"type": "Thing007", "name": "Thing008.name"}, 404, "Thing007"),
        ("nothing", {}, 404, "/ui/versions/nothing"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(page, path, query, code, said):
    answer = asgi.call(page, "GET", f"/ui/versions/{path}", **{"of": "", **query})
    lead = re.findall(r'<p class="lead">(.*)</p>', answer.text)
    assert (answer.status, said in lead[0]) == (code, True), lead


def test_a_long_name_goes_on_in_a_new_line_behind_its_parts(tmp_path):
    text = json.dumps({**schema(1)[0], "title": "Acme.Works/ma<chines"})
    (tmp_path / "2024-01-01.json").write_text(text)
    page = page_application({"": ShownProject(evolution_of([Source(tmp_path)]))})
    text = asgi.call(page, "GET", "/ui/versions").text
    assert ">Acme.<wbr>Works/<wbr>ma&lt;chines</a>" in text
