"""Classes with properties that documents have themselves are verified, with the hooks that read them; what cannot be is said."""

import pytest
from engines import package
from hooked_people import ruled
from site_pages import to_folder
from typer.testing import CliRunner

from trundle.cli._app import app
from trundle.project import ProofOptions, prove_classes
from trundle.project.package_evolution import PackageEvolutions

OLDER = """
Properties:
  kind: {Contract: $.string()}
  metadata: {Contract: {team: $.string()}}
"""
NEWER = """
Properties:
  label: {Contract: $.string()}
"""
NAMES = """
Methods:
  join:
    Usage: Static
    Scope: Public
    Arguments: [{kind: {Contract: $.string(), Default: ''}}, {metadata__team: {Contract: $.string(), Default: ''}}]
    Body:
      Return: {label: "coalesce($kind, '') + ' ' + coalesce($metadata__team, '')"}
  split:
    Usage: Static
    Scope: Public
    Arguments: [{label: {Contract: $.string(), Default: ''}}]
    Body:
      - $words: coalesce($label, '').split(' ')
      - Return: {kind: $words.first(), metadata__team: $words.last()}
"""
HOOKS = """
hooks:
  1.0.0:
    p.App:
      assign_to: {use: p.Names.join, writes: [label]}
      assign_from: {use: p.Names.split, writes: [kind, metadata.team]}
"""
TYPE = "  type: {Contract: $.string()}\n"


def packages(names=NAMES, more="", hooks=HOOKS):
    older = package("p", "1.0.0", classes={"p.App": OLDER + more})
    classes = {"p.App": NEWER + more, "p.Names": names}
    newer = package("p", "2.0.0", classes=classes, Format="'1.4'")
    return [older, ruled(newer, hooks)]


def proved(evolutions):
    options = ProofOptions(seed=1, examples=2, resources=("p.App",))
    return prove_classes(evolutions, "p", options, on_total=lambda _: None, on_step=lambda _: None)


@pytest.mark.full
def test_hooks_that_read_and_write_kind_and_metadata_are_verified():
    evolutions = PackageEvolutions(packages())
    assert evolutions.of("p").findings == evolutions.of("p").left_out == ()
    found = proved(evolutions)
    assert [each for proof in found.proofs for each in proof.findings] == []
    assert sum(each.held["law 8"] for each in found.proofs) > 0


@pytest.mark.full
@pytest.mark.parametrize("method", ["join", "split"])
def test_such_a_hook_that_fails_is_found(method):
    begin = NAMES.index(f"  {method}:")
    wrong = NAMES[:begin] + NAMES[begin:].replace("Return: {", "Return: {no: 1, ", 1)
    found = [
        x for proof in proved(PackageEvolutions(packages(wrong))).proofs for x in proof.findings
    ]
    assert found
    assert all("HookError" in each.law for each in found)


def reading(name):
    """The methods, the first of which reads one more property."""
    return NAMES.replace(
        "Arguments: [{kind", f"Arguments: [{{{name}: {{Contract: $.string()}}}}, {{kind"
    )


def test_what_cannot_be_verified_is_noted_with_the_hook_that_needs_it(tmp_path):
    made = packages(reading("type"), TYPE)
    evolutions = PackageEvolutions(made)
    assert evolutions.of("p").findings == ()
    advice = "classes have `kind` or `metadata` as well, so `type` names the class: call one of them otherwise, or test it with `package test`"
    notes = [
        f"Classes/class0.yaml:1: `type` of p.App, which is not verified; {advice} [unused]",
        f"p/2.0.0/evolution.yaml:5: `type` in the hook p.Names.join and p.Names.split, which is not verified; {advice} [hook]",
    ]
    assert [each.coded for each in evolutions.of("p").left_out] == notes
    assert {each.severity for each in evolutions.of("p").left_out} == {"note"}
    for each in made:
        to_folder(each, tmp_path / "p" / str(each.version))
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "p"), "--examples", "1", "-j", "1"])
    shown = " ".join(done.stderr.split())
    assert all(f"warning: {each}" in shown for each in notes), done.stderr


@pytest.mark.parametrize("name", ["apiVersion", "classname"])
def test_what_names_the_version_or_class_of_an_object_is_nothing_that_hooks_read(name):
    made = packages(reading(name), f"  {name}: {{Contract: $.string()}}\n")
    (found,) = PackageEvolutions(made).of("p").findings
    assert f"p.Names.join has the argument {name}, which p.App of 1.0.0 does not have" in str(found)
