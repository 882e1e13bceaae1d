"""Conversions that are alike for several versions of a type: one function for all of them.

Where two versions differ in nothing but the class that is made and the version's own name, as a resource
does that only went along with the others, one function converts both. It takes the class, and the version
where it says it, before the object. Whoever calls it knows both.
"""

import re
from collections.abc import Mapping

import msgspec

from trundle.codegen._functions import Function
from trundle.codegen._text import call, class_mark, docstring, text_literal
from trundle.evolution import PlanKey, partition
from trundle.version import ApiVersion

_LITERAL = re.compile(r"""b?"(?:[^"\\\n]|\\.)*"|b?'(?:[^'\\\n]|\\.)*'""")
_OWN = "\x05"
"""Stands for the version that a function is for."""
_VALUED = re.compile("\x01f(\\d+)\x02(?!\\()")
"""A function that is passed on and not called."""


class Alike:
    """Which functions of a package one function stands for.

    Args:
        functions: the rendered plans.
        numbers: by plan a number that is the same for those whose functions come to the same.

    Attributes:
        functions: the functions to write, by their plans.
        writer: by plan the one whose function is written for it.
        leading: by plan what its function takes before the object: the class and the version, where
            the function says it; or nothing.
    """

    def __init__(
        self, functions: Mapping[PlanKey, Function], numbers: Mapping[PlanKey, int]
    ) -> None:
        self._functions = functions
        self._numbers = numbers
        self._valued = self._find_valued()
        first: dict[int, PlanKey] = {}
        for key in functions:
            first.setdefault(numbers[key], key)
        groups: dict[int, list[PlanKey]] = {}
        own = {key: self._own(key) for key in first.values()}
        for key, group in partition(own, own, dict.fromkeys(own, ())).items():
            groups.setdefault(group, []).append(key)
        self.functions: dict[PlanKey, Function] = {}
        self.writer: dict[PlanKey, PlanKey] = {}
        self.leading: dict[PlanKey, tuple[str, ...]] = {}
        for members in groups.values():
            writer = max(members, key=_version) if len(members) > 1 else members[0]
            for key in members:
                self.writer[key] = writer
                self.leading[key] = self._leading(key) if len(members) > 1 else ()
        for key in first.values():
            if self.writer[key] is key:
                self.functions[key] = self._written(key)
        for key in functions:
            self.writer[key] = self.writer[first[numbers[key]]]
            self.leading[key] = self.leading[first[numbers[key]]]

    def _find_valued(self) -> frozenset[int]:
        """The numbers of functions that others pass on."""
        return frozenset(
            self._numbers[function.calls[int(place)]]
            for function in self._functions.values()
            for text in (function.body, *(each.text for each in function.helpers))
            for place in _VALUED.findall(text)
        )

    def _own(self, key: PlanKey) -> tuple[object, ...]:
        """What functions that are alike have in common."""
        function, number = self._functions[key], self._numbers[key]
        if function.wants_base or number in self._valued:
            return (key,)
        touched = function.touched
        return (
            _plain_name(key, function),
            key.source.kind,
            key.target.kind,
            _without_own(key, function),
            function.helpers,
            tuple(self._numbers[each] for each in function.calls),
            None
            if touched is None
            else tuple((name, each and self._numbers[each]) for name, each in touched.items()),
        )

    def _leading(self, key: PlanKey) -> tuple[str, ...]:
        made = class_mark(self._functions[key].target)
        spoken = _OWN in _without_own(key, self._functions[key])
        return (made, text_literal(_version(key).text)) if spoken else (made,)

    def _written(self, key: PlanKey) -> Function:
        function = self._functions[key]
        if not self.leading[key]:
            return function
        others = [each for each, writer in self.writer.items() if writer is key]
        sources = {self._functions[each].source for each in others}
        source = class_mark(function.source) if len(sources) == 1 else "Any"
        version = ["version: str"] if len(self.leading[key]) > 1 else []
        arguments = ["made: Callable[..., Made]", *version, f"source: {source}"]
        versions = [each.text for each in sorted({_version(each) for each in others})]
        doc = docstring(f"Makes a `{function.target.name}`, for {', '.join(versions)}.", "    ")
        signature = call("def \x03", arguments) + " -> Made:\n"
        return msgspec.structs.replace(
            function,
            name=_plain_name(key, function),
            head=signature + doc,
            body=_without_own(key, function).replace(_OWN, "version"),
        )


def _plain_name(key: PlanKey, function: Function) -> str:
    """A function's name, whichever version it leads to."""
    straight = {"api"} == {key.source.kind, key.target.kind}
    suffix = f"_to_{key.target.version.identifier}"
    return f"{function.name.removesuffix(suffix)}_to_other" if straight else function.name


def _version(key: PlanKey) -> ApiVersion:
    """The version that a function is for: the source's on a way to storage, else the target's."""
    side = key.source if key.target.kind == "storage" else key.target
    return side.version


def _without_own(key: PlanKey, function: Function) -> str:
    """What a function does, in terms of a class to make and a version."""
    version = text_literal(_version(key).text)
    made = function.body.replace(f"{class_mark(function.target)}(", "made(")
    return _LITERAL.sub(lambda match: _OWN if match[0] == version else match[0], made)
