"""What the hand-written hooks of the example make of names and addresses, by hand-written tables."""

import ast
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from releases import CRM
from strictness import mypy

from trundle.project.config import load_config
from trundle.project.generating import generate
from trundle.runtime import ABSENT


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The modules of the hooks."""
    monkeypatch.syspath_prepend(str(CRM))
    from crm_hooks import addresses, names

    yield names, addresses
    for name in [name for name in sys.modules if name.startswith("crm_hooks")]:
        del sys.modules[name]


Hooks = tuple[ModuleType, ModuleType]


@pytest.mark.parametrize(
    ("first", "middle", "last", "legal"),
    [
        ("Donald", "Fauntleroy", "Duck", "Donald Fauntleroy Duck"),
        ("Mickey", "", "Mouse", "Mickey Mouse"),
        ("Mickey", ABSENT, "Mouse", "Mickey Mouse"),
        ("Cher", "", "", "Cher"),
        ("Cher", ABSENT, ABSENT, "Cher"),
        (ABSENT, ABSENT, "Duck", "Duck"),
        ("Ludwig", "", "von Drake", "Ludwig von Drake"),
        (" Ann ", " Bea", "Cole", "Ann Bea Cole"),
        ("", "", "", ABSENT),
    ],
)
def test_a_legal_name_is_all_names_in_a_row_without_gaps(
    hooks: Hooks, first: Any, middle: Any, last: Any, legal: Any
) -> None:
    source = SimpleNamespace(first_name=first, middle_name=middle, last_name=last)
    assert hooks[0].PersonNames().assign_to(source) == {
        "alpha_key": last,
        "family_name": last,
        "known_as": first,
        "legal_name": legal,
    }


@pytest.mark.parametrize(
    ("known", "legal", "family", "middle"),
    [
        ("Donald", "Donald Fauntleroy Duck", "Duck", "Fauntleroy"),
        ("Ann", "Ann Bea Dora Cole", "Cole", "Bea Dora"),
        ("Ludwig", "Ludwig von Drake", "von Drake", ""),
        ("Mickey", "Michael Theodore Mouse", "Mouse", ABSENT),
        ("Goofy", "George Geef", "Geef", ABSENT),
        ("Ann", "Ann", "Ann", ABSENT),
        ("Ann", "Anna Bea Cole", "Cole", ABSENT),
        ("Ann", "Ann Bea McCole", "Cole", ABSENT),
        ("Ann", ABSENT, "Cole", ABSENT),
        (ABSENT, "Ann Bea Cole", "Cole", ABSENT),
        ("", "Ann Bea Cole", "Cole", "Ann Bea"),
    ],
)
def test_a_middle_name_is_what_stands_between_in_the_legal_name(
    hooks: Hooks, known: Any, legal: Any, family: Any, middle: Any
) -> None:
    source = SimpleNamespace(known_as=known, legal_name=legal, family_name=family)
    assert hooks[0].PersonNames().assign_from(source) == {
        "first_name": known,
        "last_name": family,
        "middle_name": middle,
    }


@pytest.mark.parametrize(
    ("street", "city", "address"),
    [
        ("1 Workshop Lane", "Duckburg", "1 Workshop Lane, Duckburg"),
        ("", "Duckburg", "Duckburg"),
        ("1 Workshop Lane", ABSENT, "1 Workshop Lane"),
        ("", "", ABSENT),
    ],
)
def test_a_full_address_is_street_and_city(
    hooks: Hooks, street: Any, city: Any, address: Any
) -> None:
    source = SimpleNamespace(street=street, city=city)
    assert hooks[1].AddressLines().assign_to(source) == {"full_address": address}


@pytest.mark.parametrize(
    ("address", "city", "street"),
    [
        ("1313 S. Harbor Blvd, Anaheim, CA 92803, USA", "Anaheim", "1313 S. Harbor Blvd"),
        ("Flat 2, 5 Paris Road, Paris, France", "Paris", "Flat 2, 5 Paris Road"),
        ("Paris, Rue de Rivoli, Paris", "Paris", "Paris, Rue de Rivoli"),
        ("Lighthouse 7", "Duckburg", "Lighthouse 7"),
        ("Duckburg", "Duckburg", ""),
        ("1 Workshop Lane", "", "1 Workshop Lane"),
        ("1 Workshop Lane", ABSENT, "1 Workshop Lane"),
        (ABSENT, "Duckburg", ABSENT),
    ],
)
def test_a_street_is_what_comes_before_the_city(
    hooks: Hooks, address: Any, city: Any, street: Any
) -> None:
    source = SimpleNamespace(full_address=address, city=city)
    assert hooks[1].AddressLines().assign_from(source) == {"street": street}


def test_the_hooks_are_pure() -> None:
    for file in (CRM / "crm_hooks").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            assert not isinstance(node, ast.Global | ast.Nonlocal | ast.Delete)
            assert not (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))


@pytest.mark.full
def test_the_hooks_fit_the_generated_protocols_for_a_strict_type_checker(tmp_path: Path) -> None:
    folder = tmp_path / "crm"
    shutil.copytree(CRM, folder, ignore=shutil.ignore_patterns("crm", "__pycache__", "*.lock"))
    generate(load_config(folder / "trundle.yaml"))
    (folder / "fits.py").write_text(
        "from crm.hooks import v2013_03_03_to_v2014_04_04 as names\n"
        "from crm.hooks import v2017_07_07_to_v2018_08_08 as addresses\n"
        "from trundle.runtime import AssignFrom, AssignTo\n"
        "from crm_hooks.addresses import AddressLines\n"
        "from crm_hooks.names import PersonNames\n"
        "names_to: AssignTo[names.PersonOlder, names.PersonNewerOutputs] = PersonNames()\n"
        "names_from: AssignFrom[names.PersonNewer, names.PersonOlderOutputs] = PersonNames()\n"
        "lines_to: AssignTo[addresses.AddressOlder, addresses.AddressNewerOutputs] = AddressLines()\n"
        "lines_from: AssignFrom[addresses.AddressNewer, addresses.AddressOlderOutputs] = AddressLines()\n"
    )
    ran = mypy(folder, "fits.py", "crm_hooks", "crm")
    assert ran.returncode == 0, ran.stdout + ran.stderr
