"""Small parts to be proved, and generated files that are broken on purpose."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trundle.codegen import generate_package, renamed_properties
from trundle.evolution import Evolution, TypeChanges
from trundle.schema import EnumType, ListOf, ObjectType, Property, Ref, Resource, Scalar, Schema
from trundle.verify._hops import forget_packages, imported
from trundle.verify.proofs import Proof, Prover, Work, mentioned, part_of
from trundle.version import ApiVersion

TEXT = Scalar("string")
V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
_NUMBERS = itertools.count()
Files = dict[str, bytes]


def schema(version: str, types: Mapping[str, Any], **properties: Any) -> Schema:
    """A version of the resource `Thing`; a type that is a tuple is an enum of these texts."""

    def made(name: str, declared: Any) -> ObjectType | EnumType:
        if isinstance(declared, tuple):
            return EnumType(name, True, "string", declared)
        listed = tuple(Property(each, type_) for each, type_ in sorted(declared.items()))
        return ObjectType(name, True, listed)

    definitions = {name: made(name, each) for name, each in types.items()}
    definitions["Thing"] = made("Thing", properties)
    return Schema(ApiVersion.parse(version), definitions, (Resource("Thing", "Thing"),))


def items(first: str, second: str) -> Evolution:
    """Two versions: a property that only one of them has, and a list whose elements differ."""
    return Evolution(
        (
            schema(V1, {"Item": {"name": TEXT, first: TEXT}}, a=TEXT, l=ListOf(Ref("Item"))),
            schema(
                V2, {"Item": {"name": TEXT, second: TEXT}}, a=TEXT, c=TEXT, l=ListOf(Ref("Item"))
            ),
        )
    )


def levels() -> Evolution:
    """Two versions whose enum texts a rule maps."""
    rule = TypeChanges(
        version=ApiVersion.parse(V1), type="Thing", values={"level": {"low": "L", "high": "H"}}
    )
    return Evolution(
        (
            schema(V1, {"Old": ("low", "high")}, level=Ref("Old")),
            schema(V2, {"New": ("L", "H")}, level=Ref("New")),
        ),
        (rule,),
    )


@contextmanager
def generated(evolution: Evolution, breaking: Callable[[Files], None]) -> Iterator[Any]:
    """The scheme of a package whose files were changed after they were generated."""
    package = f"broken_{next(_NUMBERS)}"
    files = dict(generate_package(evolution, package=package))
    breaking(files)
    try:
        yield imported(package, files)
    finally:
        forget_packages({package})


def proved(
    evolution: Evolution,
    breaking: Callable[[Files], None] = lambda _: None,
    *,
    seed: int = 1,
    examples: int = 30,
) -> list[Proof]:
    """The proof of all versions of the resource."""
    (resource,) = evolution.resources
    work = Work(
        part=part_of(evolution, resource),
        versions=tuple(each.text for each in resource.versions.versions),
        seed=seed,
        examples=examples,
        renamed=renamed_properties(evolution),
        mentioned=mentioned(evolution.all_changes, (), {}),
    )
    with generated(evolution, breaking) as scheme, contextlib.closing(Prover(scheme)) as prover:
        return list(prover.prove(work))


def replaced(old: str, new: str) -> Callable[[Files], None]:
    """Replaces a text wherever it stands in the generated conversions; it must stand somewhere."""

    def breaking(files: Files) -> None:
        found = [
            path for path, data in files.items() if "conversions" in path and old.encode() in data
        ]
        assert found, old
        for path in found:
            files[path] = files[path].replace(old.encode(), new.encode())

    return breaking
