"""What packages attach to themselves, under `Meta` in their manifest."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trundle.engine._classes import Classes
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import HEADER
from trundle.engine._type import Type
from trundle.errors import Finding, expectation
from trundle.packages import MANIFEST_FILE, Package, PackageMeta

_TARGETS = {"All", "Package"}


class PackageMetas:
    """Checks what packages attach to themselves: classes and properties.

    Args:
        classes: the classes that there are.
        load: loads a model, to see whether it fits its class.
    """

    def __init__(self, classes: Classes, load: Callable[[Mapping[str, Any]], None]) -> None:
        self._classes = classes
        self._load = load

    def findings(self, package: Package) -> Iterator[Finding]:
        """What is wrong with what a package attaches to itself."""
        found: list[Type] = []
        for each in package.manifest.meta:
            try:
                type_ = self._type(package, each)
                found.append(type_)
                self._load({HEADER: {"type": type_.label}, **each.properties})
            except EngineError as error:
                for one in error.errors:
                    yield from _placed(package, f"{each.name}: {one.message}", one).findings
        for type_, times in Counter(found).items():
            if times > 1 and type_.declaration.cardinality == "One":
                message = expectation(f"{type_.name} once", f"it {times} times")
                advice = "remove the others, or change `Cardinality` of the Meta class"
                yield from _error(package, EngineCode.META, message, advice).findings

    def _type(self, package: Package, meta: PackageMeta) -> Type:
        """The Meta class of what is attached.

        Raises:
            EngineError: there is none, or it does not apply to packages.
        """
        found = self._classes.resolve(package, meta.name)
        if not found.is_meta:
            message = expectation("a Meta class under `Meta`", "a class")
            advice = f"add `Usage: Meta` to {meta.name}, or remove it"
            raise _error(package, EngineCode.META, message, advice)
        if not _TARGETS & set(found.declaration.applies):
            message = expectation(f"it at {', '.join(found.declaration.applies)}", "it at Package")
            raise _error(package, EngineCode.META, message, "remove it")
        return found


def _placed(package: Package, message: str, error: EngineError) -> EngineError:
    code = EngineCode.META if error.code is EngineCode.CONTRACT else error.code
    return _error(package, code, message, error.advice)


def _error(package: Package, code: EngineCode, message: str, advice: str) -> EngineError:
    return EngineError(
        code,
        message,
        advice=advice,
        package=package.name,
        version=package.version,
        file=MANIFEST_FILE,
    )
