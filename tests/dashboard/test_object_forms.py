"""The editor's form: what it shows of a schema and of an object, what is wrong at which field, and what is saved of it."""

import html
import re

import pytest
import submitting
from apis import GROUP, Client
from objects_pages import page_of, post
from projects import Installer
from test_objects_pages import cells, document, get, seen

from trundle.api.access import Access
from trundle.store import Store

SCHEMA = """
title: Site
type: object
required: [host, level, frame]
properties:
  host: {type: string, pattern: "^[a-z.]+$", description: Where it is reached.}
  level: {type: string, enum: [low, high]}
  public: {type: boolean, default: true}
  weight: {type: number, minimum: 0, default: 1.5}
  count: {type: integer, maximum: 9}
  frame:
    title: Frame
    type: object
    required: [color]
    properties: {color: {type: string}, width: {type: integer}}
  margin: {$ref: "#/properties/frame"}
  ports:
    type: array
    items:
      title: Port
      type: object
      required: [number]
      properties: {number: {type: integer}, name: {type: string}}
  tags: {type: object, additionalProperties: {type: string}}
  free: {type: object, additionalProperties: true}
  zones:
    type: object
    additionalProperties:
      title: Zone
      type: object
      properties: {size: {type: integer}, notes: {type: object, additionalProperties: {type: string}}}
  shape:
    oneOf:
      - title: Circle
        type: object
        required: [kind]
        properties: {kind: {type: string, enum: [circle]}, radius: {type: integer}}
      - title: Box
        type: object
        required: [kind]
        properties: {kind: {type: string, enum: [box]}, side: {type: integer}}
"""
OF = {"of": GROUP, "type": "sites"}
ONE = {**OF, "namespace": "default", "name": "one", "v": "v1"}
BODY = b"""{"apiVersion": "GROUP/v1", "kind": "Site", "metadata": {"name": "one", "labels": {"tier": "gold"}}, "host": "a.b", "level": "low",
 "frame": {"color": "red"}, "weight": 1.10, "ports": [{"number": 1}, {"number": 2, "name": "b"}],
 "tags": {"x": "y"}, "free": {"b": 12345678901234567890123, "a": [1.0]}, "shape": {"kind": "circle", "radius": 3}}""".replace(
    b"GROUP", GROUP.encode()
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    config = {"kubernetes": {"group": GROUP}}
    return Installer(tmp_path_factory.mktemp("sites"))({"v1.yaml": SCHEMA}, config=config)


@pytest.fixture
def served(installed, tmp_path):
    """The page, and a client of its API."""
    with Store(tmp_path / "store.sqlite", installed.scheme) as store:
        application, api = page_of(installed, store, Access())
        client = Client(api)
        path = f"/apis/{GROUP}/v1/namespaces/default/sites"
        assert client.call("POST", path, BODY)[0] == 201
        yield application, lambda: client.call("GET", f"{path}/one")[1]


def opened(application, **query):
    """The form as a browser has it."""
    answer = get(application, "/edit", **{"as": "form", **(query or ONE)})
    assert answer.status == 200
    return submitting.form_in(answer.text)[0]


def sends(application, given, do, **changes):
    return post(application, "/ui/objects/edit", **{**given, **changes, "do": do})


def after(answer):
    return submitting.form_in(answer.text)[0]


def wrong(answer):
    """What is said at fields, by their names."""
    found = re.findall(r'id="([^"]+)-wrong">(.*?)</p>', answer.text)
    return {html.unescape(name): html.unescape(said) for name, said in found}


def test_an_untouched_form_has_the_text_of_the_editor(served):
    application, _ = served
    text = document(get(application, "/edit", **ONE))
    given = opened(application)
    assert given["document"].replace("\r\n", "\n") == text
    assert document(sends(application, given, "as yaml")) == text
    preview = sends(application, given, "preview")
    assert "No version sees a change" in preview.text


def test_a_field_is_changed_and_saved(served):
    application, now = served
    before = now()
    given = opened(application)
    assert (given["/weight"], given["/public"], given["/level"]) == ("1.1", "true", '"low"')
    changes = {"/level": '"high"', "/ports/1/name": "c", "/count": "7", "/tags/x": ""}
    shown = sends(application, given, "preview", **changes)
    assert ["level", '"low"', '"high"'] in cells(shown)
    assert now() == before
    done = sends(application, {**after(shown), **seen(shown)}, "save")
    assert done.status == 303, done.text
    saved = now()
    assert (saved["level"], saved["count"], saved["ports"][1]["name"]) == ("high", 7, "c")
    assert saved["tags"] == {"x": ""}
    for each in ("host", "frame", "free", "shape", "weight"):
        assert saved[each] == before[each]


def test_what_changed_since_it_was_shown_is_shown_again(served):
    application, now = served
    shown = sends(application, opened(application), "preview", **{"/count": "7"})
    given = {**after(shown), **seen(shown), "/count": "8"}
    again = sends(application, given, "save")
    assert (again.status, ["count", "—", "8"] in cells(again), "count" in now()) == (
        200,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"/host": "A B"}, "/host"),
        ({"/host": ""}, "/host"),
        ({"/count": "many"}, "/count"),
        ({"/count": "10"}, "/count"),
        ({"/ports/0/number": "x"}, "/ports/0/number"),
        ({"/frame/color": ""}, None),
        ({"/free": "{a: ["}, "/free"),
        ({"/free": "a: 1\n---\nb: 2"}, "/free"),
        ({"/metadata/labels/tier": "a b"}, "/metadata/labels"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field_and_stays_there(served, changes, at):
    application, now = served
    before = now()
    answer = sends(application, opened(application), "preview", **changes)
    assert (answer.status == 200) == (at is None)
    assert list(wrong(answer)) == ([at] if at else []), answer.text
    assert {key: after(answer)[key] for key in changes} == {
        key: each.replace("\n", "\r\n") for key, each in changes.items()
    }
    assert now() == before


def test_elements_are_added_and_removed(served):
    application, _ = served
    given = opened(application)
    answer = sends(application, given, "add /ports", **{"/ports/0/name": "first"})
    assert re.search(r'name="/ports/2/number"[^>]* autofocus', answer.text)
    given = after(answer)
    assert given["/ports/0/name"] == "first"
    answer = sends(application, given, "remove /ports/0", **{"/ports/2/number": "3"})
    assert [after(answer)[f"/ports/{at}/number"] for at in (0, 1)] == ["2", "3"]
    answer = sends(application, after(answer), "add /margin")
    assert after(answer)["/margin/color"] == ""
    answer = sends(application, after(answer), "add /tags", **{"key /tags": "new"})
    assert after(answer)["/tags/new"] == ""
    again = sends(application, after(answer), "add /tags", **{"key /tags": "new"})
    assert "already" in wrong(again)["/tags-key"]
    assert "Give" in wrong(sends(application, after(answer), "add /tags"))["/tags-key"]
    answer = sends(application, after(answer), "remove /shape")
    assert "/shape/kind" not in after(answer)
    text = document(sends(application, after(answer), "as yaml"))
    assert "  - name: b\n    number: 2\n  - number: 3\n" in text
    assert "margin: {}\n" in text


def test_keys_of_maps_are_changed_in_their_places(served):
    application, _ = served
    given = after(sends(application, opened(application), "add /tags", **{"key /tags": "z"}))
    given = after(sends(application, given, "add /zones", **{"key /zones": "east"}))
    given = after(
        sends(
            application, given, "add", **{"key /zones/east/notes": "one", "/zones/east/size": "3"}
        )
    )
    changes = {"rename /tags/x": "z", "rename /tags/z": "x", "/tags/z": "last"}  # They swap.
    changes |= {"rename /zones/east": "c d/%", "rename /metadata/labels/tier": "level"}
    changes |= {"rename /zones/east/notes/one": "two", "/zones/east/notes/one": "text"}
    answer = sends(application, given, "refresh", **changes)
    assert answer.status == 200
    text = document(sends(application, after(answer), "as yaml"))
    assert 'tags:\n  z: "y"\n  x: last\n' in text
    assert "zones:\n  c d/%:\n    size: 3\n    notes:\n      two: text\n" in text
    assert "labels:\n    level: gold\n" in text
    previewed = sends(application, after(answer), "preview")
    assert ["tags.z", "—", '"y"'] in cells(previewed), cells(previewed)


@pytest.mark.parametrize(
    ("changes", "at", "what"),
    [
        ({"rename /tags/x": "z"}, ["/tags/x-called"], "There is 'z' already"),
        ({"rename /tags/x": ""}, ["/tags/x-called"], "Give 'x' another key"),
        (
            {"rename /tags/x": "new", "key /tags": "new"},
            ["/tags-key", "/tags/x-called"],
            "There is 'new' already",
        ),
        (
            {"rename /tags/x": "new", "rename /tags/z": "new"},
            ["/tags/x-called", "/tags/z-called"],
            "Each key stands once in a map",
        ),
    ],
)
def test_a_key_that_stands_twice_is_said_there_and_nothing_is_renamed(served, changes, at, what):
    application, now = served
    before = now()
    given = after(sends(application, opened(application), "add /tags", **{"key /tags": "z"}))
    given = after(sends(application, given, "add /zones", **{"key /zones": "east"}))
    others = {"rename /zones/east": "west", "/tags/x": "typed", "key /metadata/labels": "more"}
    answer = sends(application, given, "preview", **changes, **others)
    assert answer.status == 422
    assert sorted(wrong(answer)) == at
    assert all(what in each for each in wrong(answer).values())
    kept = after(answer)
    assert {name: kept[name] for name in (*changes, *others)} == {**changes, **others}
    assert now() == before
    mended = sends(
        application, kept, "preview", **{each: f"k{at}" for at, each in enumerate(changes)}
    )
    assert mended.status == 200, mended.text
    assert "zones:\n  west: {}\n" in document(sends(application, after(mended), "as yaml"))


def test_buttons_find_what_is_called_otherwise_by_now(served):
    application, _ = served
    given = opened(application)
    renamed = {"rename /tags/x": "y", "rename /metadata/labels/tier": "level"}
    answer = sends(application, given, "add /tags", **renamed, **{"key /tags": "x"})
    shown = after(answer)
    assert (shown["/tags/y"], shown["/tags/x"]) == ("y", "")
    answer = sends(application, given, "remove /tags/x", **renamed)
    assert not [name for name in after(answer) if name.startswith("/tags/")]
    assert "/metadata/labels/level" in after(answer)


def test_a_union_changes_its_variant_and_keeps_the_rest(served):
    application, _ = served
    given = opened(application)
    assert given["/shape/radius"] == "3"
    answer = sends(application, given, "refresh", **{"/shape/kind": '"box"'})
    shown = after(answer)
    assert (shown["/shape/side"], shown["/shape/radius"]) == ("", "3")
    assert "radius" in document(sends(application, shown, "as yaml"))


def test_switching_keeps_what_was_typed(served):
    application, _ = served
    given = opened(application)
    answer = sends(application, given, "as yaml", **{"/host": "typed.here"})
    text = document(answer)
    assert "host: typed.here" in text
    back = post(application, "/ui/objects/edit", **ONE, document=text + "# mine\n", do="as form")
    assert after(back)["/host"] == "typed.here"
    assert "comments" in back.text
    assert document(sends(application, after(back), "as yaml")) == text + "# mine\n"
    broken = post(application, "/ui/objects/edit", **ONE, document=text + "a: [", do="as form")
    assert document(broken) == text + "a: ["
    assert "no form of this text" in broken.text
    problem = sends(application, given, "as yaml", **{"/free": "["})
    assert (problem.status, after(problem)["/free"]) == (422, "[")


def test_an_object_is_created_in_a_form(served):
    application, _ = served
    given = opened(application, **OF)
    assert given["/metadata/namespace"] == "default"
    changes = {
        "/metadata/name": "two",
        "/host": "b.c",
        "/level": '"low"',
        "/frame/color": "blue",
        "key /metadata/labels": "tier",
    }
    answer = sends(application, given, "preview", **changes)
    answer = sends(application, after(answer), "preview", **{"/metadata/labels/tier": "tin"})
    assert answer.status == 200, answer.text
    done = sends(application, {**after(answer), **seen(answer)}, "save")
    assert (done.status, "name=two" in done.headers["location"]) == (303, True)


def test_a_form_that_is_not_of_its_text_is_refused(served):
    application, _ = served
    given = opened(application)
    for do in ("add /host", "add /nothing", "remove /nothing", "remove "):
        assert sends(application, given, do).status == 400, do
    assert sends(application, {**given, "document": "["}, "preview").status == 400
    assert sends(application, given, "preview", **{"/level": '"none"'}).status == 422


def test_a_form_that_would_be_too_long_says_so(served):
    application, _ = served
    text = document(get(application, "/edit", **ONE))
    text += "".join(f"t{number}: x\n" for number in range(1001))
    answer = post(application, "/ui/objects/edit", **ONE, document=text, do="as form")
    assert ("too long" in answer.text, document(answer)) == (True, text)
