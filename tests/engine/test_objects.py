"""Objects of models: how they load, what their properties hold, and how they are dumped."""

import copy
import json
import time

import pytest
from engines import package

from trundle.engine import Engine, EngineError, Limits
from trundle.packages import Package

APP = """
Namespaces: {=: app, lib: lib}
Name: App
Properties:
  name: {Contract: $.string().notNull()}
  port: {Contract: $.int().notNull(), Default: 80}
  url:
    Contract: $.string()
    Default: $.name + '/' + str($.port)
  db: {Contract: $.class(lib:Db)}
  backup: {Contract: $.class(lib:Db)}
  dbs:
    Contract: [$.class(lib:Db).notNull()]
  named:
    Contract:
      $.string(): $.class(lib:Db)
  state: {Contract: $.string(), Usage: Out}
  setting: {Contract: $.int(), Usage: InOut, Default: 1}
  fixed: {Contract: $.int(), Usage: Const, Default: 1}
  count: {Contract: $.int(), Usage: Runtime, Default: 5}
  unset: {Contract: $.int().notNull(), Usage: Runtime}
  wrong: {Contract: $.int().notNull(), Usage: Runtime, Default: null}
  shared: {Contract: $.int(), Usage: Static, Default: 7}
  region: {Contract: $.string(), Usage: Config, Default: here}
"""
KEEPER = "app.Keeper"
DB = """
Properties:
  size: {Contract: $.int().notNull()}
  peer: {Contract: $.class('lib.Db')}
"""


def engine(*, app=APP, **keys):
    libs = [package("lib", each, classes={"lib.Db": DB}) for each in ("1.0.0", "1.1.0", "2.0.0")]
    keeper = (
        "Properties: {kept: {Contract: $.class('lib.Db')}, again: {Contract: $.class('lib.Db')}}"
    )
    classes = {"app.App": app, KEEPER: keeper}
    return Engine([package("app", "1.2.0", {"lib": "1"}, classes), *libs], **keys)


def app(**properties):
    return {"?": {"type": "app.App", "id": "a"}, "name": "x", **properties}


def db(identifier=None, version="1", **properties):
    header = {"type": "lib.Db", "classVersion": version}
    if identifier:
        header["id"] = identifier
    return {"?": header, "size": 1, **properties}


def refusal(call, *args, **kwargs):
    with pytest.raises(EngineError) as caught:
        call(*args, **kwargs)
    return caught.value


def whole(tree, **others):
    return {"Objects": tree, "Attributes": [], "ObjectsCopy": None, **others}


def again(model):
    """What a model is after it was loaded and dumped."""
    with engine().session() as session:
        return session.dump(session.load(model))


def test_values_pass_their_contracts_and_defaults_use_each_other():
    with engine().session() as session:
        root = session.load(app(port="8080", dbs=[{"size": "4"}], unknown=1))
        assert root.get("url") == "x/8080"
        assert root.get("dbs")[0].get("size") == 4
        assert str(root.get("dbs")[0].type.version) == "1.1.0"
        assert (root.id, root.type.name, root.owner) == ("a", "app.App", None)
        assert refusal(root.get, "unknown").code == "no-property"
        assert session.lock == {"app/1.2.0": {"lib": "1.1.0"}}


def test_a_default_stands_for_what_is_absent_and_not_for_null():
    with engine().session() as session:
        error = refusal(session.load, app(port=None))
        assert str(error).startswith("[app.App.port]")
        assert (error.code, error.path, error.member) == ("contract", "$.port", "port")
        assert (error.package, str(error.version), error.class_name) == ("app", "1.2.0", "app.App")
        assert (error.file, error.line) == ("Classes/class0.yaml", 6)
        assert session.load(app()).get("port") == 80


def test_usages_say_what_models_give_and_dumps_have():
    given = {"state": "s", "setting": 2, "fixed": 2, "count": 9, "shared": 9, "region": "there"}
    with engine().session() as session:
        root = session.load(app(**given))
        assert [root.get(each) for each in given] == ["s", 2, 2, 5, 7, "here"]
        assert [refusal(root.get, each).code for each in ("unset", "wrong")] == [
            "uninitialized"
        ] * 2
        dumped = session.dump(root, whole=False)
        assert {"state", "setting", "fixed"} <= dumped.keys()
        assert not {"count", "unset", "shared", "region"} & dumped.keys()


def test_code_assigns_what_its_usage_allows():
    with engine().session() as session:
        root = session.load(app())
        for name in ("state", "setting", "count", "unset", "region", "shared"):
            root.set(name, "12")
        assert [root.get("setting"), root.get("unset"), root.get("region")] == [12, 12, "12"]
        assert session.type("app.App").static("shared") == 12
        for name in ("name", "fixed"):
            assert refusal(root.set, name, "5").code == "access"
        error = refusal(root.set, "setting", "many")
        assert error.code == "contract"
        assert root.get("setting") == 12


def test_a_static_default_that_needs_itself_is_a_circle():
    text = "Properties: {p: {Contract: $.int(), Usage: Static, Default: $.p}}"
    session = Engine([package("app", classes={"app.A": text})]).session()
    for _ in range(2):
        assert refusal(session.type("app.A").static, "p").code == "circular"


def test_static_values_are_those_of_a_session():
    shared = engine()
    with shared.session() as one, shared.session() as other:
        one.load(app()).set("shared", 8)
        assert one.load({**app(), "?": {"type": "app.App"}}).get("shared") == 8
        assert other.load(app()).get("shared") == 7


@pytest.mark.parametrize(
    ("configs", "region"),
    [
        ({"app.App": {"region": "a"}}, "a"),
        (
            {
                "app.App": {"region": "a"},
                "app.App/1.2": {"region": "b"},
                "app.App/1": {"region": "c"},
            },
            "b",
        ),
        ({"app.App/2": {"region": "a"}}, "here"),
        ({"app.App": {"region": "a"}, "app.App/1": {"port": 443}}, "here"),
    ],
)
def test_a_configuration_replaces_defaults(configs, region):
    with engine(configs=configs).session() as session:
        assert session.load(app()).get("region") == region


def test_a_configuration_replaces_the_default_of_any_property_but_not_what_a_model_gives():
    with engine(configs={"app.App": {"port": 443}}).session() as session:
        assert session.load(app()).get("port") == 443
        assert session.load({**app(port=1), "?": {"type": "app.App"}}).get("port") == 1


@pytest.mark.parametrize(
    "header",
    [
        {"?": {"type": "lib.Db/1.1.0@lib", "id": "d"}, "size": 1},
        {"?": {"type": "lib.Db", "classVersion": "1.1", "package": "lib", "id": "d"}, "size": 1},
        {"?": {"type": "lib.Db/1", "classVersion": "2", "id": "d"}, "size": 1},
        {"lib.Db/1.1.0@lib": {"size": 1}, "id": "d"},
        {"lib.Db/1": {"size": 1}, "id": "d"},
    ],
)
def test_a_header_has_several_forms(header):
    with engine().session() as session:
        assert session.load(header).type.label == "lib.Db/1.1.0@lib"
        assert session.objects["d"].get("size") == 1


@pytest.mark.parametrize(
    ("version", "loaded"),
    [(None, "2.0.0"), ("1.0.0", "1.0.0"), ("1.0.9", "1.0.0"), ("1.7.0", "1.1.0"), ("1", "1.1.0")],
)
def test_a_version_that_is_gone_is_replaced_by_its_kin(version, loaded):
    with engine().session() as session:
        assert str(session.load(db(version=version)).type.version) == loaded


def test_a_version_without_kin_lists_what_there_is_with_its_place():
    with engine().session() as session:
        error = refusal(session.load, whole(app(db=db(version="7.0.0"))))
        assert (error.code, error.path) == ("no-class", "$.Objects.db")
        assert "only 1.0.0, 1.1.0, 2.0.0" in str(error)


def test_an_object_has_to_be_of_a_version_that_the_contract_requires():
    with engine().session() as session:
        error = refusal(session.load, app(db=db(version="2.0.0")))
        assert error.code == "contract"
        assert error.requirements == ("app/1.2.0 requires lib 1", "the object is lib.Db/2.0.0@lib")


def test_a_contract_may_write_the_full_name_of_a_class_as_extends_does():
    contract = "$.class(lib.Db, default => lib.Db).notNull()"
    text = f"Properties: {{a: {{Contract: {contract}}}, b: {{Contract: $.template(lib.Db)}}}}"
    text = text.replace("{Contract: $.class", "{Contract: !yaql '$.class").replace("()}", "()'}")
    with engine(app=text).session() as session:
        made = session.load({"?": {"type": "app.App"}, "a": {"size": 2}, "b": db()})
        assert made.get("a").type == session.type("lib.Db", "1")
        error = refusal(session.load, {"?": {"type": "app.App"}, "a": db(version="2.0.0")})
        assert error.code == "contract"


def test_the_maker_of_an_object_owns_it_and_references_do_not():
    model = app(
        db=db("d1", peer="d2"), backup="d3", named={"k": db("d2"), "l": db("d3", peer="d1")}
    )
    with engine().session() as session:
        root = session.load(model)
        first, second, third = (session.objects[each] for each in ("d1", "d2", "d3"))
        assert first.get("peer") == second
        assert second.owner == third.owner == root
        assert root.get("backup") == third
        assert third.get("peer").find_owner("app.App") == root
        assert third.find_owner("lib.Db") is None
        assert root.get("named") == {"k": second, "l": third}


def test_dump_load_dump_gives_the_same_bytes():
    model = whole(
        app(
            db={
                **db("d1", peer="d2"),
                "?": {"type": "lib.Db/1.0.0", "id": "d1", "name": "D", "_k": [1]},
            },
            backup="d2",
            dbs=[{"size": 3}, db("d2"), "d1"],
            named={"k": {"size": 1, "peer": db()}},
            setting=3,
        ),
        Attributes=[["d1", "lib.Db", "n", {"x": [1, None]}], ["gone", "lib.Db", "n", 1]],
    )
    given = copy.deepcopy(model)
    first = again(model)
    assert model == given
    assert list(first) == ["Objects", "Attributes", "ObjectsCopy"]
    assert first["Objects"]["db"]["?"] == {
        "type": "lib.Db/1.0.0@lib",
        "id": "d1",
        "name": "D",
        "_k": [1],
    }
    assert first["Objects"]["backup"] == "d2"
    assert first["Objects"]["dbs"][1]["?"]["id"] == "d2"
    assert first["Attributes"] == [["d1", "lib.Db", "n", {"x": [1, None]}]]
    assert json.dumps(again(first)) == json.dumps(first)


def test_a_dump_shares_nothing_with_the_session():
    with engine().session() as session:
        root = session.load(app(dbs=[db("d")]))
        session.dump(root)["Objects"]["dbs"].clear()
        root.get("dbs").clear()
        assert len(root.get("dbs")) == 1


@pytest.mark.parametrize("form", ["Inline", "Mixed"])
def test_every_form_of_a_dump_loads_again(form):
    first = again(app(db=db("d1"), dbs=["d1", db("d2")]))
    shared = engine()
    with shared.session() as session:
        root = session.load(first)
        dumped = session.dump(root, form)
        if form == "Mixed":
            assert dumped["Objects"]["?"]["type"] is root.type
        else:
            assert list(dumped["Objects"]) == [root.type, "id"]
        session.load({"Objects": None})
        session._roots.clear()
        session.finish()
        assert not session.objects
        assert json.dumps(session.dump(session.load(dumped))) == json.dumps(first)


def test_an_object_whose_owner_does_not_hold_it_is_dumped_where_it_is_met():
    with engine().session() as session:
        root = session.load(app(backup=db("b"), setting=1))
        session.load(db("d", peer=db("e")))
        keeper = session.load(
            {**app(), "?": {"type": KEEPER, "id": "k"}, "kept": "e", "again": "e"}
        )
        dumped = session.dump(keeper, whole=False)
        assert dumped["kept"]["?"]["id"] == "e"
        assert dumped["again"] == "e"
        assert session.dump(root, whole=False)["backup"]["?"]["id"] == "b"


TWO = """
Name: P
Properties:
  v: {Contract: $.int(), Usage: InOut}
---
Name: C
Extends: P
Properties:
  v:
    Contract: $.int().check($ > 0)
    Usage: InOut
---
Name: L
Properties:
  v: {Contract: $.int(), Usage: InOut}
---
Name: Both
Extends: [C, L]
"""


def two():
    names = ("P", "C", "L", "Both")
    lines = "".join(f"  {each}: all.yaml\n" for each in names)
    manifest = f"FullName: two\nType: Library\nClasses:\n{lines}"
    return Engine(
        [Package.from_files({"manifest.yaml": manifest, "Classes/all.yaml": TWO})]
    ).session()


def test_an_undeclared_name_is_private_to_the_class_that_assigns_it():
    session = two()
    child = session.load({"?": {"type": "C"}, "v": 1})
    parent = child.cast("P")
    assert child == parent
    child.set("hidden", 1)
    parent.set("hidden", [2])
    assert (child.get("hidden"), parent.get("hidden")) == (1, [2])
    assert "hidden" not in session.dump(child, whole=False)


def test_a_property_of_parent_and_child_is_one_value_that_satisfies_both():
    session = two()
    child = session.load({"?": {"type": "C"}, "v": 1})
    child.cast("P").set("v", 5)
    assert child.get("v") == 5
    assert refusal(child.cast("P").set, "v", -1).code == "contract"


def test_a_property_of_two_strangers_is_ambiguous_until_a_cast_decides():
    session = two()
    both = session.load({"?": {"type": "Both"}, "v": 3})
    assert refusal(both.get, "v").code == "ambiguous"
    assert refusal(both.set, "v", 4).code == "ambiguous"
    both.cast("L").set("v", 4)
    assert (both.cast("L").get("v"), both.cast("C").get("v"), both.cast("P").get("v")) == (4, 3, 3)


def test_a_cast_to_what_the_object_is_not_says_what_it_is():
    error = refusal(two().load({"?": {"type": "C"}, "v": 1}).cast, "L")
    assert error.code == "no-class"
    assert "name one of C, P, io.murano.Object" in str(error)


CIRCLE = """
Properties:
  a: {Contract: $.int(), Default: $.b}
  b: {Contract: $.int(), Default: $.c}
  c: {Contract: $.int(), Default: $.a}
"""


def test_a_circle_of_defaults_is_an_error_unless_the_model_breaks_it():
    session = Engine([package("app", classes={"app.A": CIRCLE})]).session()
    error = refusal(session.load, {"?": {"type": "app.A"}})
    assert error.code == "circular"
    assert error.class_name == "app.A"
    lines = {each.member: (each.file, each.line) for each in error.errors}
    file = "Classes/class0.yaml"
    assert lines == {"a": (file, 4), "b": (file, 5), "c": (file, 6)}
    assert session.load({"?": {"type": "app.A"}, "b": 4}).get("a") == 4


def test_an_error_leaves_the_session_as_it_was_and_lists_all():
    with engine().session() as session:
        root = session.load(app())
        bad = {**app(port=None, dbs=["nope"]), "?": {"type": "app.App"}, "db": db(size=None)}
        error = refusal(session.load, whole(bad))
        assert {each.path for each in error.errors} == {
            "$.Objects.port",
            "$.Objects.dbs[0]",
            "$.Objects.db.size",
        }
        assert error.code == error.errors[0].code
        assert list(session.objects.values()) == [root]


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ({"name": "x"}, "syntax", "with its class"),
        ({"?": "app.App"}, "syntax", "a header as an object"),
        ({"?": {"type": 5}}, "syntax", "the name of a class"),
        ({"?": {"type": "app.Ap"}}, "no-class", "did you mean app.App?"),
        ({"?": {"type": "app.App/x"}}, "syntax", "range"),
        ({"?": {"type": "app.App", "classVersion": 1.1}}, "syntax", "classVersion"),
        ([], "syntax", "expected an object"),
        ({"Objects": []}, "syntax", "under Objects"),
        ({"Objects": None, "Attributes": [[1]]}, "syntax", "Attributes[0]"),
        ({"Objects": None, "Atributes": []}, "syntax", "'Atributes'"),
        (app(db=db("a")), "conflict", "'a' a second time"),
        (app(name={1, 2}), "syntax", "JSON"),
        (app(backup="d9"), "no-object", "'d9'"),
        (app(name=[1.5, float("nan")]), "syntax", "nan"),
        (app(port=float("inf")), "syntax", "inf"),
    ],
)
def test_a_model_that_is_none_says_why(model, code, words):
    with engine().session() as session:
        error = refusal(session.load, model)
        assert error.code == code
        assert words in str(error)
        assert not session.objects


def test_objects_null_wants_nothing():
    with engine().session() as session:
        assert session.load({"Objects": None, "Attributes": [], "ObjectsCopy": None}) is None
        assert session.dump(None) == {"Objects": None, "Attributes": [], "ObjectsCopy": None}


def test_finish_destroys_what_only_the_last_run_had_and_what_nothing_leads_to():
    before = app(db=db("d1", peer=db("d2")), dbs=[db("d3")])
    after = app(db=db("d1"))
    with engine().session() as session:
        root = session.load(whole(after, ObjectsCopy=before, Attributes=[["d3", "lib.Db", "n", 1]]))
        assert set(session.objects) == {"a", "d1", "d2", "d3"}
        assert session.objects["d3"].owner == root
        assert session.dump(root)["ObjectsCopy"] == before  # Until they are destroyed
        lost = session.objects["d3"]
        session.finish()
        assert set(session.objects) == {"a", "d1"}
        assert refusal(lost.get, "size").code == "destroyed"
        dumped = session.dump(root)
        assert dumped["ObjectsCopy"] == dumped["Objects"]
        session.finish()
        assert set(session.objects) == {"a", "d1"}


def test_leaving_a_session_destroys_nothing():
    with engine().session() as session:
        root = session.load(app())
    assert not root.instance.is_destroyed


def deep(levels):
    model = {"?": {"type": "lib.Db"}, "size": 1}
    for _ in range(levels):
        model = {"?": {"type": "lib.Db"}, "size": 1, "peer": model}
    return model


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_many_objects_within_each_other_load_and_dump(count):
    with engine().session() as session:
        root = session.load(deep(count))
        assert len(session.objects) == count + 1
        dumped = session.dump(root, whole=False)
    levels = 0
    while dumped is not None:
        dumped, levels = dumped.pop("peer"), levels + 1
    assert levels == count + 1


ACTIVE = """
Namespaces: {=: app, m: io.murano.metadata}
Name: Base
Methods:
  scale:
    Scope: Public
    Meta: [{m:Title: {text: Scale it}}, {m:ModelBuilder: {enabled: false}}]
  hidden:
  plain: {Scope: Public}
  create: {Scope: Public, Usage: Static}
---
Name: Active
Extends: Base
Methods:
  scale:
    Scope: Public
    Meta: {m:Title: {text: Scale}}
"""


def test_a_dump_says_which_methods_can_be_called_from_outside():
    manifest = "FullName: app\nType: Library\nClasses: {app.Base: a.yaml, app.Active: a.yaml}"
    files = {"manifest.yaml": manifest, "Classes/a.yaml": ACTIVE}
    with Engine([Package.from_files(files)]).session() as session:
        root = session.load({"?": {"type": "app.Active", "id": "a"}})
        dumped = session.dump(root)
        assert dumped["Objects"]["?"]["_actions"] == {
            "a_scale": {
                "name": "scale",
                "enabled": False,
                "title": "Scale",
                "description": None,
                "helpText": None,
            },
            "a_plain": {
                "name": "plain",
                "enabled": True,
                "title": "plain",
                "description": None,
                "helpText": None,
            },
        }
        assert "_actions" not in session.dump(root, "Mixed")["Objects"]["?"]
    with Engine([Package.from_files(files)]).session() as session:
        assert session.dump(session.load(dumped)) == dumped


def test_a_property_can_be_dumped_as_references_only():
    text = """
Properties:
  far:
    Contract: [!yaql "$.class('app.A')"]
    Meta: {io.murano.metadata.engine.Serialize: {as: reference}}
"""
    with Engine([package("app", classes={"app.A": text})]).session() as session:
        inner = {"?": {"type": "app.A", "id": "b"}}
        root = session.load({"?": {"type": "app.A", "id": "a"}, "far": [inner]})
        assert session.dump(root, whole=False)["far"] == ["b"]


@pytest.mark.parametrize(
    ("own", "dumped"), [("", "b"), ("Serialize: {as: copy}", "map"), ("Title: {text: x}", "b")]
)
def test_what_an_overridden_property_says_of_dumps_is_inherited(own, dumped):
    parent = "Properties: {far: {Contract: $.class(app.A), Meta: {io.murano.metadata.engine.Serialize: {as: reference}}}}"
    own = own.replace("Serialize", "io.murano.metadata.engine.Serialize").replace(
        "Title", "io.murano.metadata.Title"
    )
    child = f"Extends: app.A\nProperties: {{far: {{Contract: $.class(app.A), Meta: {{{own}}}}}}}"
    with Engine([package("app", classes={"app.A": parent, "app.B": child})]).session() as session:
        inner = {"?": {"type": "app.A", "id": "b"}}
        root = session.load({"?": {"type": "app.B", "id": "a"}, "far": inner})
        far = session.dump(root, whole=False)["far"]
        assert ("map" if isinstance(far, dict) else far) == dumped


LINK = """
Properties:
  next: {Contract: $.class('app.Link')}
  above: {Contract: $.class('app.Link')}
  below:
    Contract: $.int()
    Default: switch($.next = null => 0, true => $.next.below + 1)
  depth:
    Contract: $.int()
    Default: switch($.above = null => 0, true => $.above.depth + 1)
"""


@pytest.mark.full
@pytest.mark.parametrize("size", [5, 2000])
def test_defaults_along_a_long_row_of_objects_find_each_other(size):
    model = None
    for at in reversed(range(size)):
        above = f"l{at - 1}" if at else None
        model = {"?": {"type": "app.Link", "id": f"l{at}"}, "next": model, "above": above}
    with Engine([package("app", classes={"app.Link": LINK}, Format="1.4")]).session() as session:
        root = session.load(model)
        assert root.get("below") == size - 1
        assert session.objects[f"l{size - 1}"].get("depth") == size - 1


@pytest.mark.parametrize("size", [2, 200])
def test_a_long_circle_of_defaults_ends_with_an_error(size):
    links = [
        {"?": {"type": "app.Link", "id": f"l{at}"}, "above": f"l{(at + 1) % size}"}
        for at in range(size)
    ]
    keeper = "Properties: {links: {Contract: [!yaql \"$.class('app.Link')\"]}}"
    classes = {"app.Link": LINK, "app.Keeper": keeper}
    with Engine([package("app", classes=classes, Format="1.4")]).session() as session:
        error = refusal(session.load, {"?": {"type": "app.Keeper"}, "links": links})
        assert error.code in ("circular", "limit")
        assert not session.objects


@pytest.mark.full
def test_an_error_deep_in_a_model_has_a_short_place():
    model = deep(20_000)
    model["peer"]["peer"]["size"] = None
    inner = model
    while "peer" in inner:
        inner = inner["peer"]
    inner["size"] = None
    error = refusal(engine().session().load, model)
    assert "$.peer.peer.size" in {each.path for each in error.errors}
    assert max(len(each.path) for each in error.errors) < 500
    assert any(each.path.startswith("$.peer.peer.peer") for each in error.errors)


def test_limits_hold_against_hostile_models():
    error = refusal(engine(limits=Limits(objects=10)).session().load, deep(20))
    assert error.code == "limit"
    bomb = []
    for _ in range(40):
        bomb = [bomb, bomb]
    error = refusal(engine(limits=Limits(values=10_000)).session().load, app(name=bomb))
    assert error.code == "limit"
    endless = []
    endless.append(endless)
    assert refusal(engine().session().load(app()).set, "state", endless).code == "limit"
    assert refusal(engine().session().load, app(name=endless)).code == "limit"


@pytest.mark.full
def test_references_that_come_before_their_objects_do_not_cost_more_than_others():
    def loaded(count, order):
        ids = [f"d{at}" for at in range(count)]
        chain = [db(each, peer=ids[(at + 1) % count]) for at, each in enumerate(ids)]
        with engine().session() as session:
            started = time.process_time()
            session.load(app(dbs=chain[::order]))
            return time.process_time() - started

    times = [min(loaded(2000, order) for _ in range(2)) for order in (1, -1)]
    assert times[0] < 4 * times[1] + 0.05
