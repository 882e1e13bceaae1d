"""Which class and which version a name gets, and the lock that keeps it."""

import itertools
import json

import pytest
from engines import extends, package

from trundle.engine import Engine, EngineError, Limits
from trundle.packages import Package
from trundle.version import SemVer


def refusal(call, *args, **kwargs):
    with pytest.raises(EngineError) as caught:
        call(*args, **kwargs)
    return caught.value


def lib(version, *classes):
    return package("lib", version, classes=dict.fromkeys(classes or ("lib.A",), ""))


def test_a_name_is_looked_up_in_the_own_package_first():
    own = package("app", requires={"lib": "1"}, classes={"x.A": "", "app.B": extends("x.A")})
    other = package("lib", classes={"x.A": ""})
    with Engine([own, other]).session() as session:
        (parent,) = session.type("app.B").parents
        assert parent.package == "app"


@pytest.mark.parametrize(("first", "second"), [("one", "two"), ("two", "one")])
def test_then_in_the_requirements_in_their_order(first, second):
    app = package("app", requires={first: 1, second: 1}, classes={"app.B": extends("x.A")})
    others = [package(each, classes={"x.A": ""}) for each in ("one", "two")]
    with Engine([app, *others]).session() as session:
        (parent,) = session.type("app.B").parents
        assert parent.package == first


def test_requirements_are_never_transitive():
    app = package("app", requires={"mid": 1}, classes={"app.B": extends("lib.A")})
    mid = package("mid", requires={"lib": 1}, classes={"mid.M": extends("lib.A")})
    session = Engine([app, mid, lib("1.0.0")]).session()
    error = refusal(session.type, "app.B")
    assert (error.code, error.package, error.class_name) == ("no-class", "app", "app.B")
    assert error.version == SemVer(1, 0, 0)
    assert error.file == "Classes/class0.yaml"
    assert "lib.A" in str(error)
    assert "add lib to `Require`" in str(error)


@pytest.mark.parametrize(
    ("owner", "advice"),
    [("app", "name a class of app/1.1.0 itself"), ("lib", "change the requirement on lib")],
)
def test_a_class_that_only_another_version_has_is_not_said_to_need_a_requirement(owner, advice):
    first, second = (
        package(owner, "1.0.0", classes={"x.Old": ""}),
        package(owner, "1.1.0", classes={"x.New": ""}),
    )
    app = package("app", "1.1.0", {"lib": 1}, {"app.B": extends("x.Old")})
    others = [first, lib("1.0.0")] if owner == "app" else [first, second]
    error = refusal(Engine([app, *others]).session().type, "app.B")
    assert error.code == "no-class"
    assert advice in error.advice


@pytest.mark.parametrize("name", ["app.A", "app.B", "app.Self"])
def test_a_circle_of_parents_says_in_which_file_it_is(name):
    parents = {"app.A": "app.B", "app.B": "app.A", "app.Self": "app.Self"}
    classes = {each: extends(parent) for each, parent in parents.items()}
    error = refusal(Engine([package("app", classes=classes)]).session().type, name)
    assert (error.code, error.class_name) == ("circular", name)
    assert (error.file, error.line) == (f"Classes/class{list(classes).index(name)}.yaml", 2)


def test_a_requirement_that_nothing_meets_names_both_packages():
    app = package("app", requires={"lib": "2"}, classes={"app.B": ""})
    session = Engine([app, lib("1.0.0"), lib("1.2.0")]).session()
    error = refusal(session.type, "app.B")
    assert error.code == "no-package"
    assert error.requirements == ("app/1.0.0 requires lib 2",)
    assert "only 1.0.0, 1.2.0" in str(error)
    assert str(refusal(session.type, "app.B")) == str(error)  # The same error on a second try


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        ("1", "1.3.0"),
        ("1.2", "1.2.5"),
        ("1.2.0", "1.2.0"),
        (">=1.2,!=1.3", "2.0.0"),
        (None, "0.9.0"),
    ],
)
def test_a_requirement_gets_the_newest_version_that_meets_it(spec, version):
    versions = ("0.9.0", "1.2.0", "1.2.5", "1.3.0", "1.4.0-rc", "2.0.0")
    app = package("app", requires={"lib": spec}, classes={"app.B": extends("lib.A")})
    with Engine([app, *map(lib, versions)]).session() as session:
        (parent,) = session.type("app.B").parents
        assert str(parent.version) == version


def test_a_package_may_use_an_older_class_of_itself_that_it_requires():
    old = package("app", "1.0.0", classes={"app.Gone": "", "app.A": ""})
    new = package("app", "2.0.0", {"app": "1"}, {"app.A": extends("app.Gone")})
    with Engine([old, new]).session() as session:
        assert [each.label for each in session.type("app.A").parents] == ["app.Gone/1.0.0@app"]


def test_the_order_of_use_changes_nothing():
    names = ["app.A", "app.B", "one.C", "lib.A"]
    packages = [
        package(
            "app",
            "1.0.0",
            {"one": 1, "lib": "1"},
            {"app.A": extends("one.C", "lib.A"), "app.B": ""},
        ),
        package("one", "1.0.0", {"lib": "1.2.0"}, {"one.C": extends("lib.A")}),
        *map(lib, ("1.2.0", "1.3.0")),
    ]
    locks, ancestors = set(), set()
    for order in itertools.permutations(names):
        with Engine(packages[::-1] if order[0] == "lib.A" else packages).session() as session:
            types = {name: session.type(name) for name in order}
            locks.add(json.dumps(session.lock))
            ancestors.add(str({name: types[name].ancestors for name in names}))
    assert len(locks) == len(ancestors) == 1


def test_a_lock_says_what_each_requirement_got_and_keeps_it():
    app = package("app", requires={"lib": "1"}, classes={"app.B": extends("lib.A")})
    with Engine([app, lib("1.2.0")]).session() as session:
        session.type("app.B")
        lock = session.lock
    assert lock == {"app/1.0.0": {"lib": "1.2.0"}}
    later = Engine([app, lib("1.2.0"), lib("1.3.0")])
    with later.session(json.loads(json.dumps(lock))) as session:
        assert str(session.type("app.B").parents[0].version) == "1.2.0"
        assert session.lock == lock
    with later.session() as session:
        assert str(session.type("app.B").parents[0].version) == "1.3.0"


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        ({"app/1.0.0": {"lib": "1.9.0"}}, "there are 1.2.0, 2.0.0"),
        ({"app/1.0.0": {"lib": "2.0.0"}}, "which takes 1"),
        ({"app/1.0.0": {"other": "2.0.0"}}, "only what app/1.0.0 requires"),
        ({"app/1.0.0": {"lib": 1.2}}, "a version such as 1.2.0"),
        ({"app": {"lib": "1.2.0"}}, "NAME/VERSION"),
        (["app"], "a lock as an object"),
    ],
)
def test_a_lock_that_does_not_fit_is_refused(lock, words):
    app = package("app", requires={"lib": "1"}, classes={"app.B": extends("lib.A")})
    error = refusal(Engine([app, lib("1.2.0"), lib("2.0.0")]).session, lock)
    assert error.code == "lock"
    assert words in str(error)


def test_a_row_of_a_package_that_is_gone_stays_without_effect():
    lock = {"gone/1.0.0": {"lib": "1.2.0"}}
    with Engine([lib("1.2.0")]).session(lock) as session:
        assert session.lock == lock


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        (None, "2.1.0"),
        ("1.2.0", "1.2.0"),
        ("1.2.7", "1.2.4"),
        ("1.9.9", "1.3.0"),
        ("1.9", "1.3.0"),
        (">=1.2,<1.3", "1.2.4"),
        ("2", "2.1.0"),
    ],
)
def test_a_model_gets_the_version_it_names_or_its_nearest_kin(spec, version):
    versions = ("1.2.0", "1.2.4", "1.3.0", "2.1.0")
    with Engine(map(lib, versions)).session() as session:
        assert str(session.type("lib.A", spec).version) == version


def test_the_error_for_a_lost_major_version_lists_what_there_is():
    error = refusal(Engine([lib("1.2.0"), lib("2.0.0")]).session().type, "lib.A", "3.1.0")
    assert error.code == "no-class"
    assert "only 1.2.0, 2.0.0" in str(error)


def test_the_latest_version_of_a_class_is_the_latest_that_has_it():
    with Engine([lib("1.0.0", "lib.A", "lib.B"), lib("2.0.0", "lib.A")]).session() as session:
        assert str(session.type("lib.B").version) == "1.0.0"


def test_a_class_of_two_packages_needs_the_name_of_its_package():
    engine = Engine([package(each, classes={"x.A": ""}) for each in ("one", "two")])
    assert refusal(engine.session().type, "x.A").code == "ambiguous"
    assert engine.session().type("x.A", package="two").package == "two"


def test_an_engine_says_which_packages_it_has():
    engine = Engine([lib("0.4.0"), lib("1.2.0")])
    assert str(engine.package("lib").version) == "0.4.0"
    assert str(engine.package("lib", "*").version) == "1.2.0"
    assert {each.name for each in engine.package("lib", "1").requirements} == {"lib", "io.murano"}
    assert refusal(engine.package, "lib", "3").code == "no-package"
    assert "did you mean lib?" in str(refusal(engine.package, "libs"))


def test_two_packages_under_one_version_are_refused_unless_they_are_the_same():
    assert Engine([lib("1.0.0"), lib("1.0.0")]).package("lib", "1")
    assert refusal(Engine, [lib("1.0.0"), lib("1.0.0", "lib.B")]).code == "conflict"


@pytest.mark.parametrize("form", ["1.5", "MuranoPL/2.0", "Python/1.0"])
def test_a_format_that_this_engine_does_not_run_is_refused_on_use(form):
    session = Engine([package("app", classes={"app.A": ""}, Format=form)]).session()
    error = refusal(session.type, "app.A")
    assert (error.code, error.package) == ("format", "app")


def test_the_bundled_core_library_gives_way_to_a_given_one():
    own = package("io.murano", "0.7.0", classes={"io.murano.Object": ""})
    newer = package("io.murano", "1.0.0", classes={"io.murano.Object": ""})
    app = package("app", classes={"app.A": ""})
    assert str(Engine([own]).package("io.murano").version) == "0.7.0"
    assert str(Engine([newer]).package("io.murano").version) == "0.1.0"
    with Engine([app, own]).session() as session:
        assert [each.label for each in session.type("app.A").ancestors] == [
            "io.murano.Object/0.7.0@io.murano"
        ]
        assert session.lock == {"app/1.0.0": {"io.murano": "0.7.0"}}
    error = refusal(Engine([app], core=False).session().type, "app.A")
    assert (error.code, error.class_name) == ("no-class", "app.A")
    assert "nothing meets the requirement on io.murano" in str(error)


def test_every_class_of_the_bundled_packages_can_be_built():
    engine = Engine([])
    with engine.session() as session:
        for name in ("io.murano", "io.murano.applications"):
            for each in engine.package(name).classes:
                assert session.type(each).name == each
        instance = session.type("io.murano.resources.LinuxMuranoInstance")
        assert "agent" in instance.properties
        assert instance.methods["createDefaultInstanceSecurityGroupRules"].declaring_type.name == (
            "io.murano.resources.LinuxInstance"
        )


def test_an_engine_reads_a_class_file_when_its_class_is_used():
    files = {
        "manifest.yaml": "FullName: app\nType: Library\nClasses: {app.A: a.yaml, app.B: b.yaml}",
        "Classes/a.yaml": "Name: app.A",
        "Classes/b.yaml": "Name: app.Other",
    }
    with Engine([Package.from_files(files)]).session() as session:
        assert session.type("app.A").name == "app.A"
        error = refusal(session.type, "app.B")
        assert (error.code, error.file) == ("no-class", "Classes/b.yaml")
        assert "only app.Other" in str(error)


def test_a_class_without_a_name_gets_the_one_it_is_asked_by_also_for_several():
    files = {
        "manifest.yaml": "FullName: app\nType: Library\nClasses: {app.A: a.yaml, app.B: a.yaml}",
        "Classes/a.yaml": "Methods: {f: }",
    }
    with Engine([Package.from_files(files)]).session() as session:
        assert [session.type(name).name for name in ("app.A", "app.B")] == ["app.A", "app.B"]


def test_a_class_file_that_is_too_large_is_refused():
    limits = Limits(class_file=1000)
    app = package("app", classes={"app.A": f"# {'x' * 1000}"})
    assert refusal(Engine([app], limits=limits).session().type, "app.A").code == "limit"
