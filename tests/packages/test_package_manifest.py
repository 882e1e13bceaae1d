import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.packages import (
    ClassFile,
    Manifest,
    ManifestError,
    ManifestMissingError,
    PackageFormat,
    PackageMeta,
    Requirement,
    manifest_from_json,
    manifest_to_json,
    parse_manifest,
    read_manifest,
)
from trundle.version import SemVer, VersionRange

v = SemVer.parse
r = VersionRange.parse

FULL = """\
name: example/aws-stack
version: 1.10.0
title: AWS stack
description: Databases in the cloud.
changes:
  - Buckets have versions.
  - Fewer retries.
critical: true
minUpgradeFrom: 1.10
dependsOn:
  example/base: 1.10
  io.murano: 0
  tools: ">=1.2,<2.0,!=1.5"
  any: "*"
  small:
format: 1.3
type: Library
classes: {example.Bucket: bucket.yaml}
resourceTypes: [Person, Bucket]
ui: [form.yaml]
keywords: [cloud]
maintainers:
  - {name: Ada, email: ada@example.org}
  - Bo
license: Apache-2.0
website: https://example.org
source: https://example.org/git
"""
CLASSIC = """\
Format: MuranoPL/1.3
Type: Application
FullName: io.example.apps.Tomcat
Name: Tomcat
Description: A server.
Author: Mirantis, Inc
Version: 1.2.0-rc.1
Tags: [Servlets, Java]
Require:
  io.example.Java: 1.10
  io.example.Linux:
Classes:
  io.example.apps.Tomcat: Tomcat.yaml
UI: ui.yaml
Logo: logo.png
Supplier: {Name: Example}
"""


def parse(text, file="app.yaml"):
    return parse_manifest(text.encode(), file)


def refuse(text, file="app.yaml"):
    with pytest.raises(ManifestError) as caught:
        parse(text, file)
    return tuple(map(str, caught.value.findings))


def test_every_key_of_an_app_yaml_is_read():
    assert parse(FULL) == Manifest(
        name="example/aws-stack",
        version=v("1.10.0"),
        title="AWS stack",
        description="Databases in the cloud.",
        changes=("Buckets have versions.", "Fewer retries."),
        critical=True,
        min_upgrade_from=v("1.10.0"),
        requirements=(
            Requirement("example/base", r("1.10")),
            Requirement("io.murano", r("0")),
            Requirement("tools", r(">=1.2,<2.0,!=1.5")),
            Requirement("any", r("*")),
            Requirement("small", r("")),
        ),
        format=PackageFormat("MuranoPL", v("1.3.0")),
        type="Library",
        classes=(ClassFile("example.Bucket", "bucket.yaml"),),
        resource_types=("Bucket", "Person"),
        forms=("form.yaml",),
        keywords=("cloud",),
        maintainers=("Ada <ada@example.org>", "Bo"),
        license="Apache-2.0",
        website="https://example.org",
        source="https://example.org/git",
    )


def test_every_key_of_a_manifest_yaml_is_read_into_the_same_model():
    assert parse(CLASSIC, "x/manifest.yaml") == Manifest(
        name="io.example.apps.Tomcat",
        version=v("1.2.0-rc.1"),
        title="Tomcat",
        description="A server.",
        requirements=(
            Requirement("io.example.Java", r("1.10")),
            Requirement("io.example.Linux", r(">=0.0.0,<1.0.0")),
        ),
        format=PackageFormat("MuranoPL", v("1.3.0")),
        type="Application",
        classes=(ClassFile("io.example.apps.Tomcat", "Tomcat.yaml"),),
        forms=("ui.yaml",),
        keywords=("Servlets", "Java"),
        maintainers=("Mirantis, Inc",),
    )


def test_a_manifest_yaml_may_leave_out_nearly_everything():
    manifest = parse("FullName: io.example.App", "manifest.yaml")
    assert manifest == Manifest(name="io.example.App", version=v("0.0.0"), format=PackageFormat())
    assert manifest.effective_requirements == (
        Requirement("io.example.App", r("0")),
        Requirement("io.murano", r("")),
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", "MuranoPL/1.0.0"),
        ("1", "MuranoPL/1.0.0"),
        ("1.10", "MuranoPL/1.10.0"),
        ("MuranoPL/1.3", "MuranoPL/1.3.0"),
        ("Heat.HOT/1.0.5", "Heat.HOT/1.0.5"),
    ],
)
def test_formats_may_be_shortened(text, meant):
    assert str(parse(f"FullName: a.B\nFormat: {text}", "manifest.yaml").format) == meant


def test_implied_requirements_give_way_to_declared_ones():
    text = "FullName: a.B\nVersion: 2.3.4\nRequire: {a.B: '2.3', io.murano: 1, c.D: '*'}"
    assert parse(text, "manifest.yaml").effective_requirements == (
        Requirement("a.B", r("2.3")),
        Requirement("io.murano", r("1")),
        Requirement("c.D", r("*")),
    )


def test_the_core_library_is_implied_only_where_its_language_is_spoken():
    plain = "name: a\nversion: 3.0.0\n"
    assert [each.name for each in parse(plain).effective_requirements] == ["a"]
    spoken = parse(plain + "classes: {a.B: b.yaml}")
    assert [each.name for each in spoken.effective_requirements] == ["a", "io.murano"]
    other = parse("FullName: a.B\nFormat: Heat.HOT/1.0", "manifest.yaml")
    assert [each.name for each in other.effective_requirements] == ["a.B"]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("version: 1.10", ("m/app.yaml:2: expected a version such as 1.2.3, found the text '1.10' with the end at "
         "character 5 in place of '.' and the patch number; write 1.10.0")),
        ("version: 1.2.3-beta", ("m/app.yaml:2: expected a version without suffix, found the text '1.2.3-beta'; write "
         "1.2.3; publishing adds a suffix where one is asked for")),
        ("version: [1]", "m/app.yaml:2: expected a version such as 1.2.3, found a list; write text"),
        ("version: v1.0.0", "remove the v"),
        ("version:", "m/app.yaml:2: expected a version such as 1.2.3, found nothing; write text"),
        ("version: 1.0.0\ndependsOn: {lib: ^1}", ("m/app.yaml:3: expected a range of versions such as 1, >=1.2,<2 or *, "
         "found the text '^1' with '^' at character 1 in place of an operator or a version; write the bounds out")),
        ("version: 1.0.0\ndependsOn: {Lib Rary: 1}", "expected the name of a package"),
        ("version: 1.0.0\ndependsOn: [lib]", "expected ranges by package, found a list"),
        ("version: 1.0.0\ndepends: {}", "did you mean dependsOn?"),
        ("version: 1.0.0\ncritical: 1", "m/app.yaml:3: expected true or false, found the value '1'"),
        ("version: 1.0.0\nminUpgradeFrom: 1.1", "m/app.yaml:3: expected a version of at most 1.0.0, found 1.1.0"),
        ("version: 1.0.0\ntitle: 3", "put it in quotes"),
        ("version: 1.0.0\ntype: Librry", "did you mean Library?"),
        ("version: 1.0.0\nformat: x/y/1", "write a language, / and a version"),
        ("version: 1.0.0\nformat: Heat", "expected a format such as 1.0 or MuranoPL/1.0"),
        ("version: 1.0.0\nclasses: {a.B: ../b.yaml}", "expected the file of a class inside the package"),
        ("version: 1.0.0\nclasses: {a-B: b.yaml}", "expected the full name of a class"),
        ("version: 1.0.0\nui: /etc/x", "expected the file of a form inside the package"),
        ("version: 1.0.0\nmaintainers: [{email: x}]", "expected the key name in a maintainer"),
        ("version: 1.0.0\nversion: 2.0.0", "each key once"),
    ],
)  # fmt: skip
def test_a_bad_app_yaml_is_refused_with_its_line(text, finding):
    (found,) = refuse(f"name: app\n{text}\n", "m/app.yaml")
    assert found.startswith("m/app.yaml:")
    assert finding in found


@pytest.mark.parametrize("name", ["App", "a b", "a//b", "/a", "a/", "ä", "a" * 256, "a..b", "-a"])
def test_a_bad_name_is_refused(name):
    (found,) = refuse(f"name: '{name}'\nversion: 1.0.0")
    assert "expected a name of at most 255 characters" in found


@pytest.mark.parametrize("name", ["com.3scale.App", "9a", "a_b.C"])
def test_a_classic_name_has_letters_digits_and_underscores_anywhere(name):
    manifest = parse(f"FullName: {name}\nClasses: {{{name}: a.yaml}}", "manifest.yaml")
    assert (manifest.name, manifest.classes[0].name) == (name, name)


@pytest.mark.parametrize("name", [".a", "a.", "a..b", "a-b", "a b", "ä.b"])
def test_a_classic_name_has_no_other_character_and_no_dot_at_an_end_or_doubled(name):
    (found,) = refuse(f"FullName: {name}", "manifest.yaml")
    assert "with dots between the parts" in found


def test_a_classic_name_is_refused_where_it_does_not_belong():
    (found,) = refuse("FullName: a-b/c", "manifest.yaml")
    assert "with dots between the parts" in found


def test_all_findings_are_listed_in_the_order_of_the_file():
    found = refuse("name: A\nversion: 1\ntitel: x\ncritical: no\ndependsOn: {a: x}\n")
    assert [each.split(":")[1] for each in found] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        (b"", "expected one object, found an empty file"),
        (b"a: 1\n---\nb: 2", "expected one object, found several documents"),
        (b"[]", "expected a manifest with the keys"),
        (b"\xff\xfe", "found UTF-16"),
        (b"a: [", "expected valid YAML"),
        (b"{}", "expected the key name in a manifest"),
    ],
)
def test_what_is_no_manifest_is_refused(data, finding):
    with pytest.raises(ManifestError) as caught:
        parse_manifest(data, "app.yaml")
    assert finding in str(caught.value.findings[0])


def test_the_manifest_of_a_folder_is_found(tmp_path):
    with pytest.raises(
        ManifestMissingError, match=r"expected app\.yaml or manifest\.yaml, found neither"
    ):
        read_manifest(tmp_path)
    (tmp_path / "app.yaml").write_text("name: a\nversion: 1.0.0\n")
    assert read_manifest(tmp_path).name == "a"
    (tmp_path / "manifest.yaml").write_text("FullName: a\n")
    with pytest.raises(ManifestError, match=r"found app\.yaml and manifest\.yaml; remove one"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.yaml").unlink()
    (tmp_path / "app.yaml").unlink()
    (tmp_path / "app.yaml").mkdir()
    with pytest.raises(ManifestError, match="expected a file"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", [FULL, "name: a\nversion: 1.0.0"])
def test_a_manifest_survives_json(text):
    manifest = parse(text)
    data = manifest_to_json(manifest)
    assert manifest_from_json(data) == manifest
    assert manifest_to_json(manifest_from_json(data)) == data


def test_json_is_small_and_readable():
    manifest = parse("name: a\nversion: 1.0.0\nminUpgradeFrom: 0.9\ndependsOn: {b: '1'}")
    assert manifest_to_json(manifest) == (
        b'{"name":"a","version":"1.0.0","minUpgradeFrom":"0.9.0","requirements":[{"name":"b","range":"1"}]}'
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"name":"a","version":1}', b'{"name":"a","version":"1.0"}', b"\xff"],
)
def test_json_that_is_no_manifest_is_refused(data):
    with pytest.raises(ManifestError, match="config: expected the manifest of a package"):
        manifest_from_json(data, "config")


def test_keys_of_a_later_time_are_passed_over():
    assert manifest_from_json(b'{"name":"a","version":"1.0.0","later":1}').name == "a"


@settings(deadline=None)
@given(st.binary(max_size=60), st.sampled_from(["app.yaml", "manifest.yaml"]))
def test_no_bytes_break_the_reader(data, file):
    with contextlib.suppress(ManifestError):
        parse_manifest(data, file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.Tag", (PackageMeta("a.Tag"),)),
        ("{a.Tag: {x: 1.10, y: [a, {b: null}]}, b.Tag: }", (PackageMeta("a.Tag", {"x": 1.1, "y": ["a", {"b": None}]}), PackageMeta("b.Tag"))),
        ("[a.Tag, {b.Tag: {x: '1'}}]", (PackageMeta("a.Tag"), PackageMeta("b.Tag", {"x": "1"}))),
        ("", ()),
        ("[]", ()),
    ],
)  # fmt: skip
def test_what_a_package_attaches_to_itself_is_read(text, expected):
    found = parse_manifest(f"FullName: a\nMeta: {text}\n".encode(), "manifest.yaml")
    assert found.meta == expected
    assert manifest_from_json(manifest_to_json(found)) == found


@pytest.mark.parametrize("text", ["5", "[null]", "[[a]]", "{a.Tag: 5}", "{a.Tag: [x]}"])
def test_what_cannot_be_attached_to_a_package_is_refused_with_its_line(text):
    with pytest.raises(ManifestError, match=r"manifest.yaml:2: expected"):
        parse_manifest(f"FullName: a\nMeta: {text}\n".encode(), "manifest.yaml")
