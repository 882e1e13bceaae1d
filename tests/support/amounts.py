"""How much tests try, and what: some examples in `make test`, all of them in `make test-all`; the same ones in every run.

`DRAWS=fresh make test` and `DRAWS=fresh make test-all` draw other examples of all properties but the laws; what fails is
printed with a line that repeats it. With a number, `DRAWS=7`, they draw other examples of the laws, too, the same ones for the same number.
"""

import functools
import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, core, settings
from hypothesis.internal import reflection
from hypothesis.internal.conjecture import providers
from hypothesis.internal.detection import is_hypothesis_test

ALL = os.environ.get("TRUNDLE_TESTS") == "all"
DRAWS = os.environ.get("DRAWS", "")
FRESH = DRAWS == "fresh"


def digest_with(draws: str) -> Callable[[Any], bytes]:
    """What examples follow from that are the same in every run: what a test is, and what to draw."""
    digest = core.function_digest
    return lambda function: digest(function) + draws.encode()


def once(digest: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Takes the digest of a function once for all that are made of one piece of source, as a helper makes one for each test."""
    known: dict[object, bytes] = {}

    def found(function: Any) -> bytes:
        key = (
            inspect.unwrap(function).__code__,
            repr(reflection.get_signature(function)),
            getattr(function, "_hypothesis_internal_add_digest", b""),
        )
        if key not in known:
            known[key] = digest(function)
        return known[key]

    return found


core.function_digest = once(digest_with(DRAWS) if DRAWS.isdigit() else core.function_digest)

settings.register_profile(
    "trundle",
    max_examples=60 if ALL else 10,
    deadline=None,
    derandomize=not FRESH,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # The machine may be busy.
)
settings.load_profile("trundle")

if not FRESH:
    # Hypothesis also draws constants of all modules that a process has loaded, so that examples would depend on the tests
    # that ran before.
    providers._get_local_constants = lambda loaded=providers._local_constants: loaded


def amount(number: int) -> int:
    """How many of so many examples to try."""
    return number if ALL else max(3, number // 20)


def full(*values: object) -> object:
    """A case that `make test-all` runs and `make test` does not; a lighter case of its test stays."""
    return pytest.param(*values, marks=pytest.mark.full)


def tries_more(item: pytest.Function) -> bool:
    """Whether `make test-all` tries more in a test than `make test` does."""
    return _draws(item.obj) or _has_amounts(item.module)


@functools.cache
def _has_amounts(module: ModuleType) -> bool:
    """Whether the tests of a module try as much as `amount` says, themselves or by functions that they share."""
    return any(
        name in ("ALL", "amount", "amounts")
        or getattr(value, "__module__", "") == "proving"
        or (isinstance(value, FunctionType) and not name.startswith("test_") and _draws(value))
        for name, value in vars(module).items()
    )


def _draws(function: Any) -> bool:
    """Whether a function is a property of hypothesis, or tries one."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return is_hypothesis_test(function) or (
        code is not None and not {"given", "run_state_machine_as_test"}.isdisjoint(code.co_names)
    )


def some_of(cases: Iterable[object], one_in: int, first: int = 0) -> list[object]:
    """Cases of one kind, all for `make test-all` and one in so many for `make test`.

    Args:
        cases: the values of one parameter, or tuples with the values of several.
        one_in: how many cases there are for each that `make test` runs.
        first: which of them it begins with.
    """
    return [
        each
        if (number - first) % one_in == 0
        else full(*(each if type(each) is tuple else (each,)))
        for number, each in enumerate(cases)
    ]


ONE_IN: dict[str, int] = {
    "laws": 4,
    "oddities": 3,
    "catalog": 2,  # Of those on SQLite and on PostgreSQL, the former.
    "environments": 2,
    "channels": 2,
    "dashboard": 2,
    "installation": 2,
    "providers": 2,
    "examples/test_crm_releases.py": 3,
    "examples/test_mickey.py": 2,
    "api/test_admission_webhooks.py": 3,
    "api/test_catalogs.py": 3,
    "api/test_owners_of_converted_fields.py": 3,
    "api/test_resources.py": 2,
    "api/test_statuses.py": 3,
    "api/test_validation_rules.py": 3,
    "channels/test_policy_schedule.py": 3,
    "dashboard/test_forms_of_documents.py": 3,
    "engine/expressions/test_expressions.py": 3,
    "engine/running/test_hostile_code.py": 3,
    "engine/running/test_strain.py": 3,
    "engine/test_check.py": 2,
    "engine/test_lock_laws.py": 3,
    "installation/test_fetching.py": 3,
    "installation/test_selection.py": 3,
    "kubernetes/test_quick_conversions.py": 3,
    "project/test_validation_keywords.py": 3,
    "verify/test_verify_values.py": 3,
}
"""Below `tests`: of the cases of each test there, which take long, `make test` runs the first of so many."""


def left_to_all(items: Iterable[pytest.Function], tests: Path) -> Iterator[pytest.Function]:
    """The cases that only `make test-all` runs by `ONE_IN`.

    Args:
        items: all that was collected, in its order.
        tests: the folder that the places in `ONE_IN` are in.
    """
    numbers = {tests / place: number for place, number in ONE_IN.items()}
    cases: Counter[Any] = Counter()
    for each in items:
        one_in = next((numbers[x] for x in (each.path, *each.path.parents) if x in numbers), 1)
        if one_in == 1 or each.get_closest_marker("full"):
            continue
        if cases[each.path, each.function] % one_in:
            yield each
        cases[each.path, each.function] += 1
