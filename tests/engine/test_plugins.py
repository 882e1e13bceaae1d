"""Packages that are Python distributions."""

import sys

import pytest

from trundle.engine import Engine
from trundle.engine.plugins import load_plugins

MANIFEST = """
FullName: whatever
Type: Library
Format: 1.4
Require: {lib: 1.2}
Classes: {clocks.Clock: Clock.yaml, clocks.Plain: Plain.yaml}
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution with a module of its own: classes by full name, and further files."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(name, version, classes, code="class Clock:\n    def tick_once(self): pass\n", **files):
        module = name.lower().replace("-", "_").replace(".", "_")
        info = tmp_path / f"{module}-{version}.dist-info"
        info.mkdir()
        (tmp_path / module / "Classes").mkdir(parents=True)
        (tmp_path / module / "__init__.py").write_text(f"{code}\nloaded = True\n")
        for path, text in files.items():
            (tmp_path / module / path).write_text(text)
        points = "".join(f"{each} = {module}:{value}\n" for each, value in classes.items())
        (info / "entry_points.txt").write_text(f"[io.murano.extensions]\n{points}")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text("".join(f"{module}/{each},,\n" for each in files))
        return module

    yield made
    for each in [one for one in sys.modules if one.startswith("clock_")]:
        del sys.modules[each]


def test_a_distribution_without_a_manifest_is_a_package_in_version_zero(install):
    install("Clock-One", "2.3.4", {"clocks.Clock": "Clock"})
    plugins = load_plugins(["clock_one"])
    assert plugins.findings == ()
    (package,) = plugins.packages
    assert (package.name, str(package.version)) == ("clock-one", "0.0.0")
    with Engine(plugins.packages, natives=plugins.natives).session() as session:
        assert list(session.type("clocks.Clock").methods) == ["tickOnce", "setAttr", "getAttr"]
        assert session.load({"?": {"type": "clocks.Clock"}}).type.package == "clock-one"


def test_a_manifest_gives_requirements_and_class_files_and_the_distribution_its_version(install):
    files = {
        "manifest.yaml": MANIFEST,
        "Classes/Clock.yaml": "Name: clocks.Clock\nProperties: {zone: {Contract: $.string()}}",
        "Classes/Plain.yaml": "Name: clocks.Plain",
    }
    install("clock-two", "2.3", {"clocks.Clock": "Clock"}, **files)
    plugins = load_plugins(["clock-two"])
    (package,) = plugins.packages
    assert (package.name, str(package.version)) == ("clock-two", "2.3.0")
    assert [str(each) for each in package.manifest.requirements] == ["lib 1.2"]
    assert set(package.classes) == {"clocks.Clock", "clocks.Plain"}
    assert list(plugins.natives) == ["clocks.Clock/2.3.0"]


def test_only_what_is_listed_is_imported(install):
    install("clock.Three", "1.0.0", {"clocks.A": "Clock"})
    other = install("clock-four", "1.0.0", {"clocks.B": "Clock"})
    assert [each.name for each in load_plugins(["clock-three"]).packages] == ["clock.three"]
    assert other not in sys.modules


def test_a_class_of_two_distributions_is_loaded_from_neither(install):
    modules = [
        install(name, "1.0.0", {"clocks.C": "Clock"}) for name in ("clock-five", "clock-six")
    ]
    plugins = load_plugins(["clock-five", "clock-six"])
    assert plugins.packages == ()
    assert [each.code for each in plugins.findings] == ["conflict", "conflict"]
    assert all("clock-five, clock-six" in str(each) for each in plugins.findings)
    assert not set(modules) & sys.modules.keys()


@pytest.mark.parametrize(
    ("version", "classes", "files", "code"),
    [
        ("1.0.0", {"clocks.Clock": "Nothing"}, {}, "no-class"),
        ("1.0.0", {"clocks.Clock": "loaded"}, {}, "no-class"),
        ("1.0.dev1", {"clocks.Clock": "Clock"}, {"manifest.yaml": "FullName: x"}, "manifest"),
        ("1.0.0", {"clocks.Clock": "Clock"}, {"manifest.yaml": "FullName: ["}, "manifest"),
        ("1.0.0", {}, {}, "no-package"),
    ],
)
def test_a_distribution_that_cannot_be_used_says_why(install, version, classes, files, code):
    install("clock-seven", version, classes, **files)
    plugins = load_plugins(["clock-seven"])
    assert plugins.packages == ()
    assert [(each.code, each.place.object) for each in plugins.findings] == [(code, "clock-seven")]
