"""The literals that rules and hooks mention: values on which a conversion may turn."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trundle.evolution import HookDeclaration, TypeChanges

_LONGEST = 60
_FOR_CONVERSIONS: Mapping[str, tuple[Any, ...]] = {
    "boolean": ("true", "false", "True", "yes"),
    "api-version": ("v1", "apps/v1", "example.com/v1beta1", "a/b/c", ""),
    "bytes": (1024, 1000, 1 << 30),
    "duration": ("PT1H30M", "P1D", "PT0S", "PT1.5S", "3600", "1m30s"),
    "go-duration": ("1h0m0s", "90s", "1.5h", "300ms", "-2s", "0", "PT1S"),
    "group": ("", "apps", "example.com"),
    "quantity": ("1Gi", "1024Mi", "100m", "1e3", "1.5k", "2"),
    "seconds": (3600, 90, "3600"),
    "integer": ("12", "-1", "007", "+1", "9007199254740993"),
    "number": ("1.10", "1e2", "-0"),
}


class Mentioned(NamedTuple):
    """Literals that rules and hooks mention, which a condition may turn on."""

    texts: tuple[str, ...] = ()
    integers: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()


NOTHING_MENTIONED: Mapping[str, Mentioned] = {}


def mentioned(
    changes: Iterable[TypeChanges],
    hooks: Iterable[HookDeclaration],
    sources: Mapping[str, str],
) -> Mapping[str, Mentioned]:
    """The literals that rules and hooks mention, by the name of the type that they are for.

    Args:
        changes: the configured changes.
        hooks: the hooks.
        sources: the Python text of each module of hooks, by its dotted name; others are passed over.
    """
    renamed = {each.type: each.rename_type for each in changes if each.rename_type}
    found: dict[str, list[Any]] = {}
    for each in changes:
        found.setdefault(each.type, []).extend(_of_rules(each))
    for hook in hooks:
        module = hook.reference.use.partition(":")[0]
        if module in sources:
            found.setdefault(hook.reference.type, []).extend(literals(sources[module]))
    for older, newer in renamed.items():
        found.setdefault(newer, []).extend(found.get(older, []))
    return {name: _sorted_out(values) for name, values in found.items() if values}


def together(*every: Mapping[str, Mentioned]) -> Mapping[str, Mentioned]:
    """What is mentioned in several places."""
    found: dict[str, Mentioned] = {}
    for each in every:
        for name, said in each.items():
            known = found.get(name, Mentioned())
            found[name] = Mentioned(
                tuple(dict.fromkeys((*known.texts, *said.texts))),
                tuple(dict.fromkeys((*known.integers, *said.integers))),
                tuple(dict.fromkeys((*known.numbers, *said.numbers))),
            )
    return found


def literals(source: str) -> tuple[Any, ...]:
    """The texts and numbers in a Python module, without its documentation."""
    module = ast.parse(source)
    said = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return tuple(
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
        and id(node) not in said
        and isinstance(node.value, str | int | float)
    )


def _of_rules(changes: TypeChanges) -> Iterator[Any]:
    for pairs in changes.values.values():
        yield from (*pairs, *pairs.values())
    yield from changes.default.values()
    for each in changes.convert.values():
        name = each if isinstance(each, str) else each.name
        for kind, values in _FOR_CONVERSIONS.items():
            if kind in name:
                yield from values


def _sorted_out(values: list[Any]) -> Mentioned:
    texts = [each for each in values if isinstance(each, str) and len(each) <= _LONGEST]
    whole = [each for each in values if isinstance(each, int) and not isinstance(each, bool)]
    return Mentioned(
        tuple(dict.fromkeys(texts)),
        tuple(
            dict.fromkeys((*whole, *(each + 1 for each in whole), *(each - 1 for each in whole)))
        ),
        tuple(dict.fromkeys(each for each in values if isinstance(each, float))),
    )
