"""What is converted quickly is what the careful way comes to, whatever objects have in them."""

import json
import shutil
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from amounts import amount, some_of
from cases import CASES, ITEM, ITEM2, V1, V2, V3, Case
from evolving import evolve, forget, rules
from hypothesis import given
from hypothesis import strategies as st

from trundle import verify
from trundle.api import ConversionReviews, ServedKind, ServedVersion, converted_kinds
from trundle.errors import TrundleError
from trundle.kubernetes import Conversions, WebhookMetrics
from trundle.kubernetes._carrier import sealed
from trundle.kubernetes._server_json import json_of, passed
from trundle.project import generate, generated_scheme, load_config, load_parts

CRM = Path(__file__).parents[2] / "examples" / "crm"
GROUP = "things.example.com"
WITHOUT_STATUS = SimpleNamespace(status_apart=False)
values_of = msgspec.json.Decoder(float_hook=Decimal).decode
members_of = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

ODD = (
    None,
    {},
    [],
    "",
    1.0,
    -0.0,
    1e16,
    2**63,
    -(2**64),
    10**30,
    0.1,
    {"b": 1, "a": {"d": 1.5, "c": None}},
    [{}],
    "<&>",
    "é",
    True,
)
ODD_NAMES = (
    "added",
    "$unknown",
    "$additional",
    "$propertyBag",
    "$writtenWith",
    "$$writtenWith",
    "\\$",
    "kind",
    "apiVersion",
    "metadata",
)


_TYPES = {
    "count": "integer", "ratio": "number", "ratio?": "number?", "ratios": "[number]", "other": "number|string|boolean",
    "free": "any", "all": "{any}", "names": "{string}", "sets": "[{number}]", "parts!": "[Part]", "named": "{Part}", "level": "L",
}  # fmt: skip
_PART = {"Part": {"name!": "string", "share": "number", "more": "any"}, "L": ["Gold", "Silver"]}
MINE = {
    "plain": Case(
        {
            V1: {"Thing": {"old": "string", **_TYPES}, **_PART},
            V2: {"Thing": {"new": "string", **_TYPES}, **_PART},
        },
        (rules(V1, rename={"old": "new"}),),
    ),
    "plain, with parts that grow": Case(
        {
            V1: {"Thing": {"old": "string", "item": "Item", "items": "[Item]", **_TYPES}, **_PART, **ITEM},
            V2: {"Thing": {"new": "string", "item": "Item", "items": "[Item]", **_TYPES}, **_PART, **ITEM2},
            V3: {"Thing": {"new": "string", "item": "Item", "items": "[Item]", "z": "any", **_TYPES}, **_PART, **ITEM2},
        },
        (rules(V1, rename={"old": "new"}),),
    ),
}  # fmt: skip
"""Evolutions with all that may be written otherwise than it was read, most of which is passed on as it is."""


class Both:
    """The two ways to convert objects of a resource type."""

    def __init__(self, scheme, kind):
        self.scheme, self.kind = scheme, kind
        self.conversions = Conversions([kind], scheme, WebhookMetrics())
        self.labels = [*kind.versions, "storage"]
        self.quick = 0

    def quickly(self, data, wanted):
        """What an object is converted to quickly; else None."""
        (made,) = self.conversions.quick([data], wanted)
        return made

    def compare(self, data, label):
        """Converts an object in both ways."""
        wanted = f"{self.kind.group}/{label}"
        made = self.quickly(data, wanted)
        if made is None:
            return
        self.quick += 1
        found, expected = (
            members_of(each) for each in (made, self.conversions.convert(values_of(data), wanted))
        )
        metadata = [values_of(each.pop("metadata")) for each in (found, expected)]
        assert metadata[0] == metadata[1]
        assert list(found.items()) == list(expected.items())


def metadata():
    texts = st.dictionaries(st.sampled_from(["a", "b/c", "é", "<", "carrier"]), st.text(max_size=4))
    managed = st.just([{"manager": "m", "fieldsV1": {"f:spec": {"f:a": {}}}}])
    return st.fixed_dictionaries(
        {"name": st.just("one")},
        optional={
            "labels": texts,
            "annotations": st.one_of(texts, st.none(), st.just([])),
            "managedFields": managed,
            "generation": st.integers(0, 3),
            "creationTimestamp": st.none(),
        },
    )


def places(value, path=()):
    """Where something may be put in place of what is there, or added."""
    yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from places(each, (*path, place))


@st.composite
def changed(draw, document):
    """A document with something odd somewhere in it."""
    made = json.loads(json_of(document))
    inside = [
        each for each in places(made) if each[:1] not in [("metadata",), ("apiVersion",), ("kind",)]
    ]
    *path, last = draw(st.sampled_from([each for each in inside if each] or [("added",)]))
    holder = made
    for each in path:
        holder = holder[each]
    odd = draw(st.sampled_from(ODD))
    if isinstance(holder, dict) and draw(st.booleans()):
        holder[draw(st.sampled_from(ODD_NAMES))] = odd
    elif isinstance(holder, dict) and draw(st.booleans()):
        holder.pop(last, None)
    else:
        holder[last] = odd
    return made


@st.composite
def spelt(draw, document):
    """A document as an API server writes it; what is stored in it is spelt as it was when it was stored."""
    text = json_of(passed(document))
    if draw(st.booleans()):
        for each in b"<>&":
            text = text.replace(bytes([each]), b"\\u%04x" % each)
    return text


def drawn(data, both):
    """An object at some version, as JSON."""
    kind = both.kind
    found = data.draw(verify.stored_objects(both.scheme, kind.resource))
    stored = members_of(both.scheme.convert_json(both.scheme.encode(found)))
    stored.pop("metadata", None)
    if data.draw(st.booleans()):
        stored = {**stored, "$writtenWith": stored["apiVersion"]}
    head = {
        "apiVersion": f"{kind.group}/storage",
        "kind": kind.kind,
        "metadata": data.draw(metadata()),
    }
    document = {**head, "stored": msgspec.json.encode(stored).decode()}
    for label in data.draw(st.lists(st.sampled_from(both.labels), max_size=3)):
        try:
            document = values_of(both.conversions.convert(document, f"{kind.group}/{label}"))
        except TrundleError:
            break
    annotations = document["metadata"].get("annotations")
    if isinstance(annotations, dict) and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(["carrier", "not-shown"]))
        text = data.draw(st.sampled_from(["", "x", "too-large.5", sealed(b"{}")]))
        annotations.setdefault(f"{kind.group}/{name}", text)
    if data.draw(st.booleans()):
        document = data.draw(changed(document))
    return data.draw(spelt(document))


def hold(both, examples):
    @verify.some_examples(amount(examples))
    @given(data=st.data())
    def holds(data):
        text = drawn(data, both)
        for label in both.labels:
            both.compare(text, label)

    holds()


def both_of(scheme):
    versions = {
        f"v{number}": ServedVersion(f"v{number}", version, None, WITHOUT_STATUS)
        for number, version in enumerate(scheme.resources["Thing"].versions)
    }
    names = ("Thing", GROUP, "Thing", "ThingList", "things", "thing", (), (), True, ())
    return Both(scheme, ServedKind(*names, versions, None, None))


@pytest.fixture(params=[*MINE, *some_of(CASES, 12)])
def both(request):
    case = (MINE | CASES)[request.param]
    scheme = evolve(case.versions, *case.more)
    yield both_of(scheme)
    forget(scheme)


def test_evolutions_are_converted_alike(both, request):
    hold(both, 400 if "plain" in request.node.name else 60)


@pytest.fixture(scope="module")
def plain():
    scheme = evolve(MINE["plain"].versions, *MINE["plain"].more)
    yield both_of(scheme)
    forget(scheme)


def text_of(metadata=(), version="v0", **properties):
    head = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Thing",
        "metadata": {"name": "x", **dict(metadata)},
    }
    return json.dumps({**head, "parts": [], **properties}).encode()


QUICK = {
    "nothing": text_of(),
    "a rename": text_of(old="x", level="Gold"),
    "numbers": text_of(count=2**59, ratio=0.5, ratios=[1, 1e-7]),
    "null": text_of(free=None),
    "annotations": text_of({"annotations": {"a": "b"}}),
    "escapes": text_of(free="\u00fc", old="\u00fc"),
    "sorted": text_of(names={"a": "1", "b": "2"}).replace(b": ", b":"),
}
"""What is converted quickly."""

CAREFUL = {
    "a carrier": text_of({"annotations": {f"{GROUP}/carrier": "x"}}),
    "no reason": text_of({"annotations": {f"{GROUP}/not-shown": "x"}}),
    "no annotations": text_of({"annotations": {}}),
    "an unknown property": text_of(what=1),
    "a null that cannot be": text_of(count=None),
    "a missing property": text_of().replace(b'"parts"', b'"Parts"'),
    "half a character": text_of(free="\ud800"),
}
"""What is converted carefully."""

SPELT = {
    "an integer that is nearly no int64": text_of(ratio=2**63 - 1),
    "an integer that is no int64": text_of(ratio=2**63),
    "a whole number with a fraction": text_of(ratio=1.0),
    "a large number": text_of(ratio=1e40),
    "such a number in a list": text_of(ratios=[0.5, 2.0]),
    "such a number in an object": text_of(parts=[{"name": "x", "share": 1.0}]),
    "such a number in a map of objects": text_of(named={"a": {"name": "x", "share": 1.0}}),
    "such a number in a union": text_of(other=3.0),
    "a map in another order": text_of(names={"b": "1", "a": "2"}),
    "a map in a list in another order": text_of(sets=[{"b": 1, "a": 2}]),
    "free-form data in another order": text_of(free={"b": 1, "a": 2}),
    "free-form data with another spelling": text_of(free=[1.0]),
}
"""What an API server would write otherwise, so that it is only found within what is stored."""


@pytest.mark.parametrize("name", QUICK)
def test_usual_objects_are_converted_quickly(plain, name):
    for label in ("v1", "storage"):
        before = plain.quick
        plain.compare(QUICK[name], label)
        assert plain.quick > before
    stored = plain.quickly(QUICK[name], f"{GROUP}/storage")
    for label in ("v0", "v1"):
        before = plain.quick
        plain.compare(stored, label)
        assert plain.quick > before


@pytest.mark.parametrize("name", CAREFUL)
def test_unusual_objects_are_converted_carefully(plain, name):
    assert plain.quickly(CAREFUL[name], f"{GROUP}/v1") is None


@pytest.mark.parametrize("name", SPELT)
def test_what_is_stored_in_another_spelling_is_converted_carefully(plain, name):
    stored = plain.conversions.convert(values_of(SPELT[name]), f"{GROUP}/storage")
    assert plain.quickly(stored, f"{GROUP}/v1") is None


def test_what_is_stored_with_spaces_in_free_form_data_is_converted_carefully(plain):
    stored = plain.conversions.convert(values_of(text_of(free=[1])), f"{GROUP}/storage")
    assert b"[1]" in stored
    assert plain.quickly(stored, f"{GROUP}/v1") is not None
    assert plain.quickly(stored.replace(b"[1]", b"[ 1]"), f"{GROUP}/v1") is None


@pytest.mark.parametrize("name", SPELT)
def test_what_an_api_server_sends_is_not_looked_at_for_its_spelling(plain, name):
    before = plain.quick
    plain.compare(json_of(passed(values_of(SPELT[name]))), "v1")
    assert plain.quick > before


def test_a_large_object_is_not_looked_at_for_its_spelling_either(plain):
    large = text_of(ratio=1e40, parts=[{"name": "x"}] * 200)
    before = plain.quick
    plain.compare(json_of(passed(values_of(large))), "v1")
    assert plain.quick > before


FREE = {
    "metadata": text_of({"labels": {"a": "?"}}),
    "a property": text_of(free={"a": "?"}),
    "a map": text_of(all={"a": "?"}),
    "an object in a list": text_of(parts=[{"name": "x", "more": "?"}]),
    "an object in a map": text_of(named={"a": {"name": "x", "more": "?"}}),
}
"""Objects with free-form data in all places."""


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("label", ["v1", "storage"])
def test_free_form_data_that_is_no_text_is_converted_carefully(plain, name, label):
    wanted = f"{GROUP}/{label}"
    assert plain.quickly(FREE[name], wanted) is not None
    assert plain.quickly(FREE[name].replace(b"?", b"\xff"), wanted) is None
    deep = b'"?"', b"[" * 200 + b"]" * 200
    assert plain.quickly(FREE[name].replace(*deep), wanted) is None


@pytest.mark.parametrize("broken", [b"\xff", b"\xed\xa0\x80", b"\xc3"])
def test_what_is_stored_with_metadata_that_is_no_text_is_converted_carefully(plain, broken):
    stored = plain.quickly(FREE["metadata"], f"{GROUP}/storage")
    assert plain.quickly(stored, f"{GROUP}/v1") is not None
    assert plain.quickly(stored.replace(b"?", broken), f"{GROUP}/v1") is None


def test_what_a_version_hides_is_converted_carefully():
    case = MINE["plain, with parts that grow"]
    scheme = evolve(case.versions, *case.more)
    both = both_of(scheme)
    bare, full = ({"parts": [], "items": [each]} for each in ({"x": "1"}, {"x": "1", "y": "2"}))
    assert both.quickly(text_of(version="v2", **bare), f"{GROUP}/v0") is not None
    assert both.quickly(text_of(version="v2", **full), f"{GROUP}/v0") is None
    assert both.quickly(text_of(version="v2", **full), f"{GROUP}/v1") is not None
    forget(scheme)


def test_reviews_have_the_same_answer(plain):
    objects = [
        passed(values_of(each))
        for each in (*QUICK.values(), *CAREFUL.values(), *SPELT.values())
        if b"ud800" not in each
    ]
    for some in (objects, [each for each in objects if "what" not in each and "Parts" not in each]):
        request = {"uid": "1", "desiredAPIVersion": f"{GROUP}/v1", "objects": some}
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
        body = json_of({**head, "request": request})
        ways = plain.conversions.convert, plain.conversions.quick
        assert json.loads(ConversionReviews(*ways).answer(body)) == json.loads(
            ConversionReviews(ways[0]).answer(body)
        )


def reviewed(reviews, objects, **more):
    """The answer to a review, whose members are sorted as an API server does it."""
    request = {"uid": "1", "desiredAPIVersion": f"{GROUP}/v1", "objects": objects}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", **more}
    text = json.dumps({**head, "request": request}, sort_keys=True, separators=(",", ":"))
    return json.loads(reviews.answer(text.encode()))


MANAGED = {"apiVersion": f"{GROUP}/v0", "kind": "Thing"}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"free": "},{"},
        {"free": [MANAGED, MANAGED]},
        {"free": {"objects": [MANAGED]}},
        {"metadata": {"name": "x", "managedFields": [MANAGED, MANAGED]}},
    ],
    ids=["alike", "text", "like the objects", "another review", "like the objects in metadata"],
)
@pytest.mark.parametrize("count", [1, 3])
def test_objects_are_found_whatever_is_in_them(plain, more, count):
    objects = [
        {**MANAGED, "old": f"{n}", "metadata": {"name": "x"}, "parts": [], **more}
        for n in range(count)
    ]
    ways = plain.conversions.convert, plain.conversions.quick
    expected = reviewed(ConversionReviews(ways[0]), objects)
    assert len(expected["response"]["convertedObjects"]) == count
    assert reviewed(ConversionReviews(*ways), objects) == expected
    beside = {"another": {"objects": [{**MANAGED, "old": "x"}]}}
    assert reviewed(ConversionReviews(*ways), objects, **beside) == expected


@pytest.mark.parametrize("asked", [5, "of objects"])
def test_objects_beside_a_request_are_none_of_it(plain, asked):
    beside = {"another": {"objects": [{**MANAGED, "parts": [], "metadata": {"name": "x"}}]}}
    ways = plain.conversions.convert, plain.conversions.quick
    found = reviewed(ConversionReviews(*ways), [asked], **beside)
    assert found == reviewed(ConversionReviews(ways[0]), [asked])
    assert found["response"]["result"]["status"] == "Failed"


def test_what_another_version_would_fill_in_or_lacks_is_converted_carefully():
    """Properties are only copied here, so that this is seen without a way back."""
    case = {
        V1: {"Thing": {"old": "string", "parts!": "[string]", "gone": "string"}},
        V2: {"Thing": {"new!": "string", "parts!": "[string]", "gone": "string"}},
        V3: {"Thing": {"new!": "string", "parts!": "[string]"}},
    }
    scheme = evolve(case, rules(V1, rename={"old": "new"}), hub=V2)
    both = both_of(scheme)
    whole, bare, full = text_of(old="x"), text_of(), text_of(old="x", gone="y")

    def quick(data):
        return [both.quickly(data, f"{GROUP}/{each}") is not None for each in ("v1", "v2")]

    assert [*map(quick, (whole, bare, full))] == [[True, True], [False, False], [True, False]]
    stored = [both.quickly(each, f"{GROUP}/storage") for each in (whole, bare, full)]
    assert [*map(quick, stored)] == [[True, True], [False, False], [True, False]]
    forget(scheme)


def test_objects_of_the_example_are_converted_alike(tmp_path):
    folder = tmp_path / "crm"
    shutil.copytree(CRM, folder, ignore=shutil.ignore_patterns("__pycache__"))
    config = load_config(folder / "trundle.yaml")
    generate(config)
    with generated_scheme(config) as scheme:
        for kind in converted_kinds(load_parts(config).values(), scheme):
            both = Both(scheme, kind)
            hold(both, 200)
