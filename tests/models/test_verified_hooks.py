"""Hooks of packages are held to the laws of conversion, with generated values."""

import pytest
from hooked_people import TOTAL, people

from trundle.engine import Limits
from trundle.project import ProofOptions, prove_classes
from trundle.project.package_evolution import PackageEvolutions


def proved(names, limits=None, *, examples=3, resource="p.Person"):
    evolutions = PackageEvolutions(people(names), limits)
    options = ProofOptions(seed=1, examples=examples, resources=(resource,))
    run = prove_classes(evolutions, "p", options, on_total=lambda _: None, on_step=lambda _: None)
    return [each for proof in run.proofs for each in proof.findings], run


@pytest.mark.full
def test_hooks_that_take_all_values_keep_the_laws():
    found, run = proved(TOTAL)
    assert found == []
    assert sum(each.held["law 8"] for each in run.proofs) > 10


@pytest.mark.full
def test_a_hook_that_fails_for_a_value_that_it_mentions_is_found():
    failing = TOTAL.replace("small: [{Return: 1}]", "seldom: [{Throw: e, Message: not seldom}]")
    found, _ = proved(failing)
    assert {each.law for each in found} == {"every valid document converts (HookError)"}
    assert all("not seldom" in each.found for each in found)
    assert any("convert_string_to_integer" in each.found for each in found)


@pytest.mark.full
def test_a_hook_that_writes_a_wrong_type_is_found():
    found, _ = proved(TOTAL.replace("$limits__cpu * 2", "many"))
    assert found
    assert all("Expected `int | null`, got `str`" in each.found for each in found)


@pytest.mark.full
def test_a_hook_that_does_not_end_is_found_and_not_called_again():
    looping = TOTAL.replace("Return: str($value)", "- {While: $value != null, Do: [{$x: 1}]}")
    found, run = proved(looping, Limits(seconds=0.5))
    assert found
    assert all("0.5 seconds" in each.found for each in found)
    assert run.seconds < 60
