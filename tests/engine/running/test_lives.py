"""How objects come, go and persist while code runs: destroying, handlers, models made by code."""

import pytest
from programs import HISTORIC, ROOT, opened, refused

from trundle.engine import EngineError

NOTED = """
Properties:
  kids: {Contract: [$.class(A)], Default: [], Usage: InOut}
  n: {Contract: $.string()}
Methods:
  .destroy: {Body: [!yaql 'trace($.n)']}
  keep: {Scope: Public, Arguments: [{o: {Contract: [$.class(A)]}}], Body: [{$.kids: $o}]}
  make: {Scope: Public, Arguments: [{n: {Contract: $}}], Body: {$.kids: !yaql 'list(new(A, $, n => $n))'}}
  loose: {Scope: Public, Body: [!yaql 'new(A, n => loose)']}
  me: {Scope: Public, Body: [{Return: $.n}]}
"""


def thing(id_, *kids, **keys):
    return {"?": {"type": "a.A", "id": id_, **keys}, "n": id_, "kids": list(kids)}


def finished(model, classes=None, **options):
    seen = []
    texts = {"a.A": NOTED, **(classes or {})}
    with opened(texts, model, functions={"trace": seen.append}, **options) as (session, _):
        session.finish()
        return seen, sorted(session.objects)


def test_what_only_the_copy_has_is_destroyed_owned_before_owner():
    old = thing("root", thing("a", thing("b")), thing("c"))
    seen, left = finished({"Objects": thing("root", thing("c")), "ObjectsCopy": old})
    assert seen == ["b", "a"]
    assert left == ["c", "root"]


def test_no_objects_destroy_all():
    old = thing("root", thing("a"), thing("c"))
    seen, left = finished({"Objects": None, "ObjectsCopy": old})
    assert sorted(seen[:2]) == ["a", "c"]
    assert seen[2] == "root"
    assert left == []


def test_an_object_of_the_copy_with_the_id_of_a_loaded_one_is_that_one():
    old = {**thing("root"), "n": "before"}
    seen, left = finished({"Objects": thing("root"), "ObjectsCopy": old})
    assert (seen, left) == ([], ["root"])


def test_objects_that_no_root_leads_to_are_destroyed():
    seen = []
    with opened({"a.A": NOTED}, thing("root"), functions={"trace": seen.append}) as (session, root):
        session.call(root, "make", ["one"])
        session.call(root, "loose")
        session.call(root, "make", ["two"])
        session.finish()
        assert sorted(seen) == ["loose", "one"]
        assert len(session.objects) == 2


def test_a_destroyed_object_takes_no_calls():
    with opened({"a.A": NOTED}, thing("root"), functions={"trace": len}) as (session, root):
        session.call(root, "make", ["one"])
        (kid,) = root.get("kids")
        session.call(root, "make", ["two"])
        session.finish()
        with refused(HISTORIC + "ObjectDestroyedError", "destroyed"):
            session.call(kid, "me")


@pytest.mark.full
def test_a_subscriber_hears_of_a_destruction_before_it_happens():
    watcher = """
    Methods:
      gone: {Arguments: [{o: {Contract: $.class(A)}}], Body: [!yaql "trace('gone ' + $o.n)"]}
    """
    classes = {"a.W": "Extends: A\n" + watcher.replace("\n    ", "\n")}
    subscribed = {"dependencies": {"onDestruction": [{"subscriber": "w", "handler": "gone"}]}}
    w = {"?": {"type": "a.W", "id": "w"}, "n": "w"}
    old = thing("root", w, thing("p", **subscribed))
    seen, _ = finished({"Objects": thing("root", w), "ObjectsCopy": old}, classes)
    assert seen == ["gone p", "p"]
    seen, _ = finished({"Objects": None, "ObjectsCopy": old}, classes)
    assert seen == ["gone p", "p", "w", "root"]


def test_an_error_of_a_handler_is_logged_and_stops_nothing(caplog):
    watcher = "Extends: A\nMethods: {gone: {Arguments: [{o: {Contract: $}}], Body: [{Throw: Oops, Message: no good}]}}"
    subscribed = {"dependencies": {"onDestruction": [{"subscriber": "w", "handler": "gone"}]}}
    w = {"?": {"type": "a.W", "id": "w"}, "n": "w"}
    old = thing("root", w, thing("p", **subscribed))
    seen, left = finished({"Objects": thing("root", w), "ObjectsCopy": old}, {"a.W": watcher})
    assert (seen, left) == (["p"], ["root", "w"])
    assert "no good" in caplog.text


def test_properties_of_a_destroyed_object_are_read_while_it_is_destroyed():
    text = """
    Properties: {n: {Contract: $.string()}, p: {Contract: $.class(A)}}
    Methods:
      .destroy: {Body: [!yaql "trace($.n + str($.find(A)?.n))"]}
    """
    old = {**ROOT, "n": "r", "p": {"?": {"type": "a.A", "id": "p"}, "n": "p"}}
    seen, _ = finished({"Objects": None, "ObjectsCopy": old}, {"a.A": text})
    assert seen == ["pr", "rnull"]


def test_what_code_makes_is_dumped_and_loaded_again():
    with opened({"a.A": NOTED}, thing("root"), functions={"trace": len}) as (session, root):
        session.call(root, "make", ["one"])
        session.finish()
        model = session.dump(root)
        (kid,) = root.get("kids")
        assert model["Objects"]["kids"][0]["?"]["id"] == kid.id
    with opened({"a.A": NOTED}, model, functions={"trace": len}) as (session, root):
        (again,) = root.get("kids")
        assert (again.id, session.call(again, "me")) == (kid.id, "one")


PUBLIC = """
Methods:
  open: {Scope: Public}
  shut: {}
  shared: {Scope: Public, Usage: Static}
"""


def test_public_methods_are_listed_in_the_dump_by_id_and_name():
    with opened({"a.A": PUBLIC}) as (session, root):
        actions = session.dump(root)["Objects"]["?"]["_actions"]
    assert {key: (value["name"], value["enabled"]) for key, value in actions.items()}.get(
        "root_open"
    ) == ("open", True)
    assert "root_shut" not in actions


@pytest.mark.parametrize("text", ["Methods: {.init: {Body: [{Throw: Oops}]}}"])
def test_an_error_in_init_loads_nothing(text):
    with opened({"a.A": text}, load=False) as (session, _):
        with refused("a.Oops"):
            session.load(ROOT)
        assert not session.objects


def test_a_model_with_an_unknown_id_is_refused():
    text = "Properties: {o: {Contract: $.class(A)}}"
    with refused(HISTORIC + "NoObjectFoundError"), opened({"a.A": text}, {**ROOT, "o": "none"}):
        pass


def test_an_id_that_comes_later_in_the_model_is_found():
    text = "Properties: {o: {Contract: $.class(A)}, p: {Contract: $.class(A)}}"
    model = {**ROOT, "o": "p", "p": {"?": {"type": "a.A", "id": "p"}}}
    with opened({"a.A": text}, model) as (_, root):
        assert root.get("o").id == "p"


def test_handlers_see_all_objects_before_the_first_is_destroyed():
    watcher = """
    Extends: A
    Methods:
      gone: {Arguments: [{o: {Contract: $.class(A)}}], Body: [!yaql "trace('gone ' + $o.n + ' with ' + $o.kids.n.join(' '))"]}
    """
    subscribed = {"dependencies": {"onDestruction": [{"subscriber": "w", "handler": "gone"}]}}
    w = {"?": {"type": "a.W", "id": "w"}, "n": "w"}
    old = thing("root", w, thing("p", thing("q", **subscribed), **subscribed))
    seen, _ = finished({"Objects": thing("root", w), "ObjectsCopy": old}, {"a.W": watcher})
    assert seen == ["gone p with q", "gone q with ", "q", "p"]


STATIC = """
Properties:
  kept: {Contract: $.class(B), Usage: Static}
  n: {Contract: $.string()}
Methods:
  run:
    Scope: Public
    Body:
      - :A.kept: new(B, n => kept)
      - new(B, n => loose)
      - sys:GC.collect()
      - Return: :A.kept.n
"""


def test_what_a_static_property_leads_to_is_destroyed_with_the_run_only():
    seen = []
    held = "Properties: {n: {Contract: $}}\nMethods: {.destroy: {Body: [!yaql 'trace($.n)']}}"
    classes = {"a.A": STATIC, "a.B": held}
    with opened(classes, functions={"trace": seen.append}) as (session, root):
        assert session.call(root, "run") == "kept"
        assert seen == ["loose"]
        session.finish()
        assert seen == ["loose", "kept"]


class CountedHeader(dict):
    """A header that counts how often it is read."""

    reads = 0

    def get(self, key, default=None):
        CountedHeader.reads += 1
        return super().get(key, default)

    def __contains__(self, key):
        CountedHeader.reads += 1
        return super().__contains__(key)


DROPPED = """
Extends: A
Methods:
  gone: {Arguments: [{o: {Contract: $.class(A)}}], Body: []}
  drop:
    Scope: Public
    Arguments: [{n: {Contract: $}}]
    Body:
      - Repeat: $n
        Do:
          - $o: new(A, n => o)
          - sys:GC.subscribeDestruction($this, $o, keep)
          - $o: null
          - sys:GC.collect()
"""


@pytest.mark.parametrize("count", [10, 100])
def test_a_destruction_looks_at_no_headers_of_other_objects(count, monkeypatch):
    kids = [thing(f"kid {number}") for number in range(count)]
    root = {**thing("root", *kids), "?": {"type": "a.W", "id": "root"}}
    classes = {"a.A": NOTED, "a.W": DROPPED}
    with opened(classes, root, functions={"trace": len}) as (session, made):
        for each in made.get("kids"):
            each.instance.header = CountedHeader()
        monkeypatch.setattr(CountedHeader, "reads", 0)
        session.call(made, "drop", [count])
        assert len(session.objects) == count + 1
        assert CountedHeader.reads == 0
        assert made.instance.header.get("dependencies") is None


def test_subscriptions_of_a_model_end_with_the_subscriber():
    subscribed = {
        "dependencies": {"onDestruction": [{"subscriber": name, "handler": None} for name in "wv"]}
    }
    publishers = [thing("p", **subscribed), thing("q", **subscribed)]
    model = {
        "Objects": thing("root", thing("v"), *publishers),
        "ObjectsCopy": thing("root", thing("w"), thing("v"), *publishers),
    }
    with opened({"a.A": NOTED}, model, functions={"trace": len}) as (session, root):
        session.finish()
        kids = session.dump(root)["Objects"]["kids"]
        left = {"onDestruction": [{"subscriber": "v", "handler": None}]}
        assert [each["?"].get("dependencies") for each in kids] == [None, left, left]


@pytest.mark.parametrize(
    "dependencies",
    [
        5,
        [1],
        {"onDestruction": 5},
        {"onDestruction": [3]},
        {"onDestruction": [{"handler": "gone"}]},
    ],
)
def test_a_header_whose_dependencies_mean_nothing_is_refused(dependencies):
    model = thing("root", thing("p", dependencies=dependencies))
    with (
        pytest.raises(EngineError, match=r"\$\.kids\[0\]") as caught,
        opened({"a.A": NOTED}, model),
    ):
        pass
    assert "onDestruction" in caught.value.message
