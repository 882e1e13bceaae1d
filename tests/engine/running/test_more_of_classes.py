"""Versions among ancestors, configurations, and natives that are given objects."""

import pytest
from engines import package
from programs import HEAD, HISTORIC, opened, refused, run

from trundle.engine import Engine, EngineError, Handle, Type, native
from trundle.packages import Package

LIBS = [
    package(
        "lib",
        v,
        Format="1.4",
        classes={
            "lib.L": f"Methods: {{v: {{Body: [{{Return: '{v}'}}]}}, only{v[0]}: {{Body: [{{Return: {v[0]}}}]}}}}"
        },
    )
    for v in ("1.0.0", "1.2.0", "2.0.0")
]


def middle(name, spec):
    return package(
        name,
        Format="1.4",
        requires={"lib": spec},
        classes={
            f"{name}.M": f"Extends: lib.L\nMethods: {{{name}Up: {{Body: [{{Return: $.v()}}]}}}}"
        },
    )


def test_ancestors_share_the_newest_version_that_all_paths_allow():
    options = {
        "packages": [*LIBS, middle("x", "1"), middle("y", "1.0")],
        "requires": {"x": 1, "y": 1},
    }
    classes = {"a.Z": "Extends: [x.M, y.M]"}
    body = "- $z: new(Z)\n- Return: [$z.v(), $z.xUp(), $z.yUp()]"
    assert run(body, classes=classes, **options) == ["1.0.0"] * 3


def test_versions_that_do_not_go_together_and_share_a_member_fail_and_name_both():
    options = {
        "packages": [*LIBS, middle("x", "1"), middle("y", "2")],
        "requires": {"x": 1, "y": 1},
    }
    with pytest.raises(EngineError) as caught:
        run("new(Z)", classes={"a.Z": "Extends: [x.M, y.M]"}, **options)
    text = str(caught.value)
    assert "x/1.0.0" in text
    assert "y/1.0.0" in text


def test_a_member_that_the_class_overrides_is_not_shared():
    options = {
        "packages": [*LIBS, middle("x", "1"), middle("y", "2")],
        "requires": {"x": 1, "y": 1},
    }
    classes = {"a.Z": "Extends: [x.M, y.M]\nMethods: {v: {Body: [{Return: own}]}}"}
    body = "- $z: new(Z)\n- Return: [$z.v(), $z.xUp(), $z.yUp(), $z.only1(), $z.only2()]"
    assert run(body, classes=classes, **options) == ["own", "own", "own", 1, 2]


def test_a_cast_takes_a_version():
    options = {
        "packages": [*LIBS, middle("x", "1"), middle("y", "2")],
        "requires": {"x": 1, "y": 1, "lib": "*"},
    }
    classes = {"a.Z": "Extends: [x.M, y.M]\nMethods: {v: {Body: [{Return: own}]}}"}
    body = "- $z: new(Z)\n- Return: list(cast($z, 'lib.L', '1').v(), cast($z, 'lib.L', '2').v())"
    assert run(body, classes=classes, **options) == ["1.2.0", "2.0.0"]


def test_a_class_is_no_requirement_of_a_requirement():
    lower = package("low", Format="1.4", classes={"low.L": ""})
    mid = package("mid", Format="1.4", requires={"low": 1}, classes={"mid.M": ""})
    with refused(HISTORIC + "NoClassFound") as caught:
        run("new('low.L')", packages=[lower, mid], requires={"mid": 1})
    assert "mid" in caught.value.message


def test_a_configuration_of_the_class_is_read_by_code():
    head = "Properties: {n: {Contract: $.int(), Usage: Config, Default: 1}}"
    assert run("Return: $.n", head=head) == 1
    assert run("Return: $.n", head=head, configs={"a.A": {"n": "8"}}) == 8


def test_a_configuration_replaces_the_default_and_not_what_the_model_has():
    head = "Properties: {n: {Contract: $.int(), Default: 1}}"
    model = {"?": {"type": "a.A", "id": "root"}, "n": 3}
    assert run("Return: $.n", head=head, configs={"a.A": {"n": 8}}) == 8
    assert run("Return: $.n", head=head, configs={"a.A": {"n": 8}}, model=model) == 3


def test_defaults_need_each_other_and_not_in_a_circle():
    head = "Properties: {a: {Contract: $, Default: $.b + 1}, b: {Contract: $, Default: 2}}"
    assert run("Return: [$.a, $.b]", head=head) == [3, 2]
    circle = head.replace("Default: 2", "Default: $.a")
    with refused(HISTORIC + "CircularExpressionDependenciesError"):
        run("Return: 1", head=circle)


class Native:
    """Behind `a.N`."""

    def __init__(self):
        self.count = 0

    def keep(self, value):
        self.count += 1
        return self.count

    def same(self, value):
        return value

    def kinds(self, *values):
        return [type(each).__name__ for each in values]

    def named(self, **values):
        return sorted(values)

    @staticmethod
    @native("label", usage="Extension")
    def label_of(thing):
        assert isinstance(thing, (Handle, Type, str))
        return "x"


def native(body, **options):
    classes = {"a.N": "", "a.K": "Properties: {n: {Contract: $, Default: 4}}"}
    return run(body, classes=classes, natives={"a.N": Native}, head="Import: N", **options)


def test_each_object_has_a_native_of_its_own():
    body = "- $a: new(N)\n- $b: new(N)\n- $a.keep(1)\n- Return: [!yaql '$a.keep(1)', !yaql '$b.keep(1)']"
    assert native(body) == [2, 1]


def test_a_native_gives_back_what_it_gets():
    assert native("Return: new(N).same(new(K)).n") == 4
    assert native("Return: new(N).same(dict(a => list(1)))") == {"a": [1]}
    assert native("Return: new(N).same(:K) = :K") is True
    assert native("Return: new(N).same(null)") is None


def test_a_native_gets_plain_values_handles_and_types():
    found = native("Return: new(N).kinds(1, a, list(1), dict(a => 1), null, $, :K)")
    assert found == ["int", "str", "list", "dict", "NoneType", "Handle", "Type"]


def test_a_native_takes_any_names():
    assert native("Return: new(N).named(b => 1, a => 2)") == ["a", "b"]


@pytest.mark.parametrize("receiver", ["new(K)", ":K", "word", "$"])
def test_an_extension_native_gets_any_receiver(receiver):
    assert native(f"Return: {receiver}.label()") == "x"


def test_natives_of_parent_and_child_are_two():
    class Child:
        def keep(self, value):
            return "child"

    classes = {"a.N": "", "a.C": "Extends: N"}
    body = "- $c: new(C)\n- Return: list($c.keep(1), cast($c, N).keep(1), cast($c, N).keep(1))"
    natives = {"a.N": Native, "a.C": Child}
    assert run(body, classes=classes, natives=natives) == ["child", 1, 2]


def test_a_class_of_another_package_is_named_by_its_prefix():
    lib = package(
        "lib",
        Format="1.4",
        classes={"lib.sub.L": "Methods: {f: {Usage: Static, Body: [{Return: 6}]}}"},
    )
    text = "Namespaces: {=: a, l: lib.sub}\nMethods: {run: {Scope: Public, Body: [{Return: !yaql ':B.f() + l:L.f()'}]}}"
    b = "Methods: {f: {Usage: Static, Body: [{Return: 1}]}}"
    main = package("a", Format="1.4", requires={"lib": 1}, classes={"a.A": text, "a.B": b})
    with Engine([main, lib]).session() as session:
        assert session.call(session.load({"?": {"type": "a.A"}}), "run") == 7


def test_a_class_may_have_many_documents_of_one_file():
    file = (
        HEAD
        + "---\nName: A\nMethods: {run: {Scope: Public, Body: [{Return: new(B).f()}]}}\n---\nName: B\nMethods: {f: {Body: [{Return: 9}]}}\n"
    )
    manifest = "FullName: a\nType: Library\nVersion: 1.0.0\nFormat: 1.4\nClasses: {a.A: f.yaml, a.B: f.yaml}\n"
    main = Package.from_files({"manifest.yaml": manifest, "Classes/f.yaml": file})
    with Engine([main]).session() as session:
        assert session.call(session.load({"?": {"type": "a.A"}}), "run") == 9


def test_a_public_method_that_changes_is_dumped():
    text = "Properties: {n: {Contract: $.int(), Usage: Out, Default: 0}}\nMethods: {up: {Scope: Public, Body: [{$.n: $.n + 1}]}}"
    with opened({"a.A": text}) as (session, root):
        session.call(root, "up")
        session.call("root", "up")
        model = session.dump(root)
    assert model["Objects"]["n"] == 2
    with opened({"a.A": text}, model) as (session, root):
        session.call(root, "up")
        assert root.get("n") == 3
