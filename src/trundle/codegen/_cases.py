"""Distinguishing the variants of a union, in generated code."""

import re
from collections.abc import Iterable

from trundle.codegen._text import text_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Lineage
from trundle.evolution.steps import Case, Cases
from trundle.schema import EnumType, ListOf, MapOf, Ref, Scalar

_CLASSES = re.compile("isinstance\\(value, ((?:\x01c[^\x02]*\x02(?: \\| )?)+)\\)")
"""The test of a class, or of several."""
_KINDS = {
    "boolean": "isinstance(value, bool)",
    "integer": "isinstance(value, int) and not isinstance(value, bool)",
    "number": "isinstance(value, int | float) and not isinstance(value, bool)",
    "string": "isinstance(value, str)",
}


def in_order(cases: Iterable[Case]) -> list[Case]:
    """The cases in the order in which they are tried: an integer is a number, too."""
    return sorted(
        cases, key=lambda case: isinstance(case.variant, Scalar) and case.variant.kind == "number"
    )


def joined(tried: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Tests and what each comes to, as few of them as do: classes that come to the same are one test.

    What comes last and is absent needs no test, for so is what nothing is said about.
    """
    found: list[tuple[str, str]] = []
    for test, result in tried:
        last = found[-1] if found else None
        classes = [_CLASSES.fullmatch(each) for each in (last[0], test)] if last else [None]
        if last is not None and last[1] == result and all(classes):
            several = " | ".join(each[1] for each in classes if each is not None)
            found[-1] = (f"isinstance(value, {several})", result)
        else:
            found.append((test, result))
    while found and found[-1][1] == "ABSENT":
        found.pop()
    return found


def case_test(types: TypeRenderer, lineage: Lineage, case: Case, step: Cases) -> str:
    """The test whether `value` is of a case's variant."""
    variant = case.variant
    match variant:
        case Ref(key):
            found = lineage.evolution.schema(step.place.version).definitions[key]
            if isinstance(found, EnumType):
                return _KINDS[found.kind]
            annotation = types.annotation_at(
                lineage, step.place, variant, storage=step.source.kind == "storage"
            )
            test = f"isinstance(value, {annotation})"
            return (
                test if case.discriminator is None else f"{test} and {_has_text(types, case, step)}"
            )
        case Scalar(kind):
            return _KINDS[kind]
        case ListOf():
            return "isinstance(value, list)"
        case MapOf():
            return "isinstance(value, dict)"
        case _:
            return "True"


def _has_text(types: TypeRenderer, case: Case, step: Cases) -> str:
    """The test that an object has the text that distinguishes its target."""
    assert case.discriminator is not None
    assert isinstance(case.variant, Ref)
    name, texts = case.discriminator
    version = step.source.version
    definition = types.evolution.schema(version).object(case.variant.key)
    attribute = types.names(version, definition)[name]
    return f"has_text(value.{attribute}, {', '.join(map(text_literal, texts))})"
