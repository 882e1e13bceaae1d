"""The engine as its users see it: every test is written from what the language and its versions promise, not from the code."""

import itertools
import json
import random
import time

import pytest
from engines import package

from trundle.engine import Engine, EngineError
from trundle.packages import ManifestError, Package

ATTRIBUTES = "code package version class_name member file line path requirements errors message"
SHARED = "Properties: {x: {Contract: $.int(), Default: 1}}"


def refusal(call, *args, **kwargs):
    with pytest.raises(EngineError) as caught:
        call(*args, **kwargs)
    error = caught.value
    assert all(hasattr(error, each) for each in ATTRIBUTES.split())
    assert error.code == error.errors[0].code
    assert str(error).startswith(error.message)
    return error


def diamond(left, right, *versions, shared=SHARED, own=""):
    """The example of the source: A inherits B and C, and both inherit D of the package Z."""
    return [
        package("A", requires={"X": 1, "Y": 1}, classes={"A.A": f"Extends: [X.B, Y.C]\n{own}"}),
        package("X", requires={"Z": left}, classes={"X.B": "Extends: Z.D"}),
        package("Y", requires={"Z": right}, classes={"Y.C": "Extends: Z.D"}),
        *(package("Z", each, classes={"Z.D": shared}) for each in versions),
    ]


def met(type_, name="Z.D"):
    return [str(each.version) for each in type_.ancestors if each.name == name]


class TestDiamonds:
    @pytest.mark.parametrize(
        ("left", "right", "versions", "chosen"),
        [
            ("1.2.0", "1", ["1.2.0", "1.3.0"], ["1.2.0"]),
            ("1", "1.2.0", ["1.2.0", "1.3.0"], ["1.2.0"]),
            (">=1.0,<1.4", "!=1.3", ["1.0.0", "1.1.0", "1.3.0", "1.4.0"], ["1.1.0"]),
        ],
    )
    def test_paths_meet_in_the_newest_version_that_all_allow(self, left, right, versions, chosen):
        with Engine(diamond(left, right, *versions)).session() as session:
            type_ = session.type("A.A")
            assert met(type_) == chosen
            assert [each.name for each in type_.parents] == ["X.B", "Y.C"]
            assert session.load({"?": {"type": "A.A"}, "x": "3"}).get("x") == 3

    def test_versions_that_cannot_meet_fail_with_both_paths_where_they_share_a_member(self):
        session = Engine(diamond("1.2.0", "1.3.0", "1.2.0", "1.3.0")).session()
        error = refusal(session.type, "A.A")
        assert (error.code, error.class_name, error.member) == ("conflict", "A.A", "x")
        assert error.file
        first, second = error.requirements
        assert "X/1.0.0 requires Z 1.2.0" in first
        assert "Y/1.0.0 requires Z 1.3.0" in second
        assert first in str(error)
        assert second in str(error)

    @pytest.mark.parametrize(
        ("shared", "own"),
        [
            ("Methods: {.init: {Body: []}, .destroy: {Body: []}}", ""),
            ("Methods: {initialize: {Body: []}, destroy: {Body: []}}", ""),
            (SHARED, "Properties: {x: {Contract: $.int(), Default: 7}}"),
        ],
    )
    def test_they_are_strangers_where_no_member_is_in_doubt(self, shared, own):
        packages = diamond("1.2.0", "1.3.0", "1.2.0", "1.3.0", shared=shared, own=own)
        with Engine(packages).session() as session:
            assert met(session.type("A.A")) == ["1.2.0", "1.3.0"]
            session.load({"?": {"type": "A.A"}})

    @pytest.mark.full
    def test_neither_the_order_of_packages_nor_of_use_changes_anything(self):
        names, seen = ["A.A", "X.B", "Y.C", "Z.D"], set()
        for order in itertools.permutations(names):
            packages = diamond("1.2.0", "1", "1.2.0", "1.3.0")
            random.Random(str(order)).shuffle(packages)
            with Engine(packages).session() as session:
                for each in order:
                    session.type(each)
                found = [met(session.type(each)) for each in names]
                seen.add(json.dumps([found, session.lock]))
        assert len(seen) == 1

    def test_a_lock_keeps_where_paths_meet_when_newer_versions_come(self):
        with Engine(diamond("1", ">=1.2", "1.2.0")).session() as session:
            session.type("A.A")
            lock = json.loads(json.dumps(session.lock))
        engine = Engine(diamond("1", ">=1.2", "1.2.0", "1.3.0"))
        with engine.session(lock=lock) as session:
            assert met(session.type("A.A")) == ["1.2.0"]
            assert session.lock == lock
        with engine.session() as session:
            assert met(session.type("A.A")) == ["1.3.0"]

    def test_a_lock_keeps_strangers_apart_when_a_version_comes_in_which_they_could_meet(self):
        packages = diamond("!=1.2.0", "<2", "1.2.0", "2.0.0", shared="")
        newer = package("Z", "1.9.0", classes={"Z.D": ""})
        with Engine(packages).session() as session:
            before = met(session.type("A.A"))
            lock = json.loads(json.dumps(session.lock))
        assert sorted(before) == ["1.2.0", "2.0.0"]
        engine = Engine([*packages, newer])
        with engine.session(lock=lock) as session:
            assert met(session.type("A.A")) == before
            assert session.lock == lock
        with engine.session() as session:
            assert met(session.type("A.A")) == ["1.9.0"]

    def test_a_lock_has_no_version_that_only_an_earlier_round_of_choosing_met(self):
        packages = [
            package("M", each, classes={"M.P": "", "M.M": "Extends: M.P"})
            for each in ("1.0.0", "1.1.0")
        ]
        packages += [
            package("X", requires={"M": "1.0.0"}, classes={"X.B": "Extends: M.M"}),
            package("Y", requires={"M": 1}, classes={"Y.C": "Extends: M.M"}),
            package("A", requires={"X": 1, "Y": 1}, classes={"A.A": "Extends: [X.B, Y.C]"}),
        ]
        with Engine(packages).session() as session:
            assert met(session.type("A.A"), "M.P") == met(session.type("A.A"), "M.M") == ["1.0.0"]
            lock = session.lock
        assert lock["A/1.0.0 A.A"] == {"M M.M": "1.0.0"}
        newer = package("M", "1.2.0", classes={"M.P": "", "M.M": "Extends: M.P"})
        with Engine([*packages, newer]).session(lock=lock) as session:
            assert met(session.type("A.A"), "M.P") == ["1.0.0"]
            assert session.lock == lock


NODE = """
Properties:
  next: {Contract: $.class(a.Node)}
  kids: {Contract: [$.class('a.Node')]}
  any: {Contract: $.class('io.murano.Object')}
  size: {Contract: $.int(), Default: 1}
  twice: {Contract: $.int(), Default: $.size * 2, Usage: InOut}
"""
VERSIONS = ("0.9.0", "1.0.0", "1.2.0", "1.2.7", "1.9.1", "2.0.0-rc.1", "2.0.0")


@pytest.fixture(scope="module")
def engine():
    return Engine([package("a", each, classes={"a.Node": NODE}) for each in VERSIONS])


def node(identifier, version="2.0.0", **properties):
    return {"?": {"type": "a.Node", "id": identifier, "classVersion": version}, **properties}


class TestModels:
    @pytest.mark.parametrize(
        ("header", "version"),
        [
            ({"type": "a.Node"}, "2.0.0"),
            ({"type": "a.Node", "classVersion": "1.2.0"}, "1.2.0"),
            ({"type": "a.Node", "classVersion": "1.2.3"}, "1.2.7"),
            ({"type": "a.Node", "classVersion": "1.5.0"}, "1.9.1"),
            ({"type": "a.Node", "classVersion": "1.2"}, "1.2.7"),
            ({"type": "a.Node", "classVersion": "2.0.0-rc.1"}, "2.0.0-rc.1"),
            ({"type": "a.Node/1.2@a", "classVersion": "2.0.0"}, "1.2.7"),
        ],
    )
    def test_an_object_is_of_the_version_that_its_header_means(self, engine, header, version):
        with engine.session() as session:
            assert str(session.load({"?": header}).type.version) == version

    def test_a_lost_major_version_lists_what_there_is(self, engine):
        with engine.session() as session:
            error = refusal(session.load, node("n", "3.1.0"))
            assert (error.code, error.class_name, error.path) == ("no-class", "a.Node", "$")
            assert all(each in str(error) for each in VERSIONS)
            assert not session.objects

    def test_versions_side_by_side_in_one_model_come_back_as_the_same_bytes(self, engine):
        inner = node("c", "2.0.0-rc.1", any="a")
        model = {
            "Objects": node("a", "1.0.0", any=node("b", "2.0.0", any=inner, next=node("d"))),
            "Attributes": [["b", "a.Node", "note", {"k": [1, None]}], ["gone", "a.Node", "n", 1]],
            "ObjectsCopy": node("a", "1.0.0", any=node("old")),
        }
        with engine.session() as session:
            dumped = session.dump(session.load(model))
            assert session.objects["a"].type is not session.objects["b"].type
            assert session.objects["c"].owner.id == "b"
        assert list(dumped) == ["Objects", "Attributes", "ObjectsCopy"]
        assert dumped["Objects"]["any"]["?"]["type"] == "a.Node/2.0.0@a"
        assert dumped["Objects"]["any"]["any"]["any"] == "a"
        assert [each[0] for each in dumped["Attributes"]] == ["b"]
        with engine.session() as session:
            again = session.dump(session.load(json.loads(json.dumps(dumped))))
            assert json.dumps(again) == json.dumps(dumped)

    def test_finish_destroys_what_only_the_last_run_had_and_sessions_are_independent(self, engine):
        model = {"Objects": None, "Attributes": [], "ObjectsCopy": node("x", kids=[node("y")])}
        with engine.session() as session, engine.session() as other:
            assert session.load(model) is None
            other.load(node("x"))
            assert set(session.objects) == {"x", "y"}
            session.finish()
            session.finish()
            assert not session.objects
            assert session.dump(None)["Objects"] is None
            assert set(other.objects) == {"x"}

    @pytest.mark.parametrize(
        ("model", "code", "paths"),
        [
            (node("r", kids=[node("k"), node("k")]), "conflict", {"$.kids[1]"}),
            (node("r", next="none"), "no-object", {"$.next"}),
            (node("r", kids=["no", "none"]), "no-object", {"$.kids[0]", "$.kids[1]"}),
            (node("r", next=node("s", size="x")), "contract", {"$.next.size"}),
            (node("r", next=node("s", "0.9.0")), "contract", {"$.next"}),
        ],
    )
    def test_a_wrong_model_loads_nothing_and_says_where(self, engine, model, code, paths):
        with engine.session() as session:
            error = refusal(session.load, model)
            assert error.code == code
            assert {each.path for each in error.errors} == paths
            assert all(each.file and each.line for each in error.errors)
            assert not session.objects

    def test_the_part_of_the_named_class_has_to_fit_the_requirement(self):
        packages = [package("b", f"{each}.0.0", classes={"b.B": ""}) for each in (1, 2)]
        packages += [
            package("k", f"{each}.0.0", {"b": each}, {"k.K": "Extends: b.B"}) for each in (1, 2)
        ]
        held = "Properties: {p: {Contract: $.class(b.B)}}"
        packages.append(package("app", "1.0.0", {"b": 1}, {"app.A": held}))
        with Engine(packages).session() as session:
            for version in ("1.0.0", "2.0.0"):
                child = {"?": {"type": "k.K", "classVersion": version}}
                model = {"?": {"type": "app.A"}, "p": child}
                if version == "1.0.0":
                    assert session.load(model).get("p").cast("b.B").type.version.major == 1
                    continue
                error = refusal(session.load, model)
                assert error.code == "contract"
                assert error.requirements == ("app/1.0.0 requires b 1", "k/2.0.0 requires b 2")
                assert str(error).startswith("[app.A.p]")

    def test_a_violation_starts_with_its_place(self):
        text = "Properties:\n  prop: {Contract: {$.string(): [$.int()]}}"
        with Engine([package("ns", classes={"ns.Class": text})]).session() as session:
            model = {"?": {"type": "ns.Class"}, "prop": {"key": ["x", 1, "y"]}}
            error = refusal(session.load, model)
            assert str(error).startswith("[ns.Class.prop['key'][0]] ")
            assert [each.path for each in error.errors] == ["$.prop['key'][0]", "$.prop['key'][2]"]
            assert (error.code, error.member, error.line) == ("contract", "prop", 3)


class TestBadInput:
    def test_a_version_of_two_parts_is_no_version(self):
        text = "FullName: a\nType: Library\nVersion: 1.10\n"
        with pytest.raises(ManifestError, match=r"manifest\.yaml:3: .*write 1\.10\.0"):
            Package.from_files({"manifest.yaml": text})

    def test_a_requirement_may_leave_out_a_minor_version(self):
        app = package("app", requires={"lib": "!=1.5"}, classes={"app.A": "Extends: lib.B"})
        libs = [package("lib", each, classes={"lib.B": ""}) for each in ("1.4.2", "1.5.0", "1.5.9")]
        with Engine([app, *libs]).session() as session:
            assert met(session.type("app.A"), "lib.B") == ["1.4.2"]

    def test_parents_in_a_circle_over_packages(self):
        one = package("one", requires={"two": 1}, classes={"one.A": "Extends: two.B"})
        two = package("two", requires={"one": 1}, classes={"two.B": "Extends: one.A"})
        session = Engine([one, two]).session()
        error = refusal(session.type, "one.A")
        assert (error.code, error.file) == ("circular", "Classes/class0.yaml")
        assert "two.B" in str(error)
        assert str(refusal(session.type, "one.A")) == str(error)

    def test_five_hundred_ancestors(self):
        classes = {"a.C0": SHARED}
        classes |= {f"a.C{at}": f"Extends: a.C{at - 1}" for at in range(1, 501)}
        with Engine([package("a", classes=classes)]).session() as session:
            assert len(session.type("a.C500").ancestors) == 501
            assert session.load({"?": {"type": "a.C500"}}).get("x") == 1

    def test_names_differ_in_letter_case(self):
        classes = {"a.Foo": SHARED, "a.foo": ""}
        with Engine([package("a", classes=classes)]).session() as session:
            assert "x" in session.type("a.Foo").properties
            assert "x" not in session.type("a.foo").properties
            assert refusal(session.type, "a.FOO").code == "no-class"

    @pytest.mark.parametrize(
        "text",
        [
            "Properties:\n  x: {Contract: $, Default: " + "[" * 900 + "]" * 900 + "}",
            "Properties:\n  x: {Contract: !yaql '" + "(" * 900 + "$" + ")" * 900 + "'}",
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "\n".join(
                f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]"
                for old, new in itertools.pairwise("abcdefghijkl")
            ),
        ],
    )
    def test_what_is_nested_or_repeated_without_end(self, text):
        session = Engine([package("a", classes={"a.A": text})]).session()
        started = time.monotonic()
        error = refusal(session.load, {"?": {"type": "a.A"}})
        assert time.monotonic() - started < 60
        assert error.code in {"limit", "syntax"}
        assert error.file
        assert error.line
        assert error.advice

    @pytest.mark.full
    def test_a_pattern_that_never_ends(self):
        text = "Properties:\n  x: {Contract: $.string().check($ =~ '(a+)+$')}"
        with Engine([package("a", classes={"a.A": text})]).session() as session:
            started = time.monotonic()
            error = refusal(session.load, {"?": {"type": "a.A"}, "x": "a" * 5000 + "!"})
            assert time.monotonic() - started < 60
            assert error.code in {"limit", "contract"}
            assert error.line == 3
