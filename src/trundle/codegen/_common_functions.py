"""Conversions that are alike for several versions of a type: one function for all of them.

Where two versions differ in nothing but the class that is made and the version's own name, as a resource
does that only went along with the others, one function converts both. It takes the class, where there are
several, and the version, where it says it, before the object. Each call gives both.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from trundle.codegen._classes import ClassPath
from trundle.codegen._functions import Function
from trundle.codegen._independent_properties import back_of
from trundle.codegen._text import (
    Helper,
    call,
    class_mark,
    part_mark,
    text_literal,
    type_mark,
)
from trundle.evolution import PlanKey, partition
from trundle.version import ApiVersion

_LITERAL = re.compile(r"""b?"(?:[^"\\\n]|\\.)*"|b?'(?:[^'\\\n]|\\.)*'""")
_OWN = "\x05"
"""Stands for the version that a function is for."""
_VALUED = re.compile("\x01f(\\d+)\x02(?!\\()")
"""A function that is passed on and not called."""


class Leading(NamedTuple):
    """What a function takes before the object.

    Attributes:
        made: the class that it makes.
        version: the version that it is for.
    """

    made: ClassPath | None = None
    version: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """These as arguments of a call."""
        made = () if self.made is None else (class_mark(self.made),)
        return made if self.version is None else (*made, text_literal(self.version))


class Alike:
    """Which functions of a package one function stands for.

    Args:
        functions: the rendered plans.
        numbers: by plan a number that is the same for those whose functions come to the same.

    Attributes:
        functions: the functions to write, by their plans.
        writer: by plan the one whose function is written for it.
        leading: by plan what its function takes before the object: the class, where it makes several, and the
            version, where it says one; or nothing.
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
        self.leading: dict[PlanKey, Leading] = {}
        for members in self._split(groups.values()):
            writer = max(members, key=version_of) if len(members) > 1 else members[0]
            for key in members:
                self.writer[key] = writer
                self.leading[key] = self._given(key, members) if len(members) > 1 else Leading()
        for key in first.values():
            if self.writer[key] is key:
                self.functions[key] = self._written(key)
        for key in functions:
            self.writer[key] = self.writer[first[numbers[key]]]
            self.leading[key] = self.leading[first[numbers[key]]]

    def _split(self, groups: Iterable[list[PlanKey]]) -> Iterator[list[PlanKey]]:
        """Groups whose members lead from one class or to one class: a checker then knows what becomes what."""
        for members in groups:
            if len({self._functions[each].target for each in members}) == 1:
                yield members
                continue
            by_source: dict[ClassPath, list[PlanKey]] = {}
            for each in members:
                by_source.setdefault(self._functions[each].source, []).append(each)
            yield from by_source.values()

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
            None if function.tied is None else tuple(function.tied.items()),
            tuple(
                (name, other, self._numbers[callee], self._numbers[back_of(callee)])
                for name, (other, callee) in function.parts.items()
            ),
        )

    def _given(self, key: PlanKey, members: list[PlanKey]) -> Leading:
        targets = {self._functions[each].target for each in members}
        spoken = _OWN in _without_own(key, self._functions[key])
        return Leading(
            self._functions[key].target if len(targets) > 1 else None,
            version_of(key).text if spoken else None,
        )

    def _written(self, key: PlanKey) -> Function:
        """The function that stands for others, too."""
        function, leading = self._functions[key], self.leading[key]
        others = sorted((x for x, writer in self.writer.items() if writer is key), key=version_of)
        if len(others) == 1:
            return function
        sources = dict.fromkeys(self._functions[each].source for each in others)
        arguments = [f"source: {' | '.join(map(type_mark, sources))}"]
        helpers, body, result = function.helpers, function.body, type_mark(function.target)
        if leading.version is not None:
            arguments.insert(0, "version: str")
            body = _without_version(key, body).replace(_OWN, "version")
        if leading.made is not None:
            result = part_mark(len(helpers))
            targets = dict.fromkeys(self._functions[each].target for each in others)
            helpers = (*helpers, _one_of(function.target.name, targets))
            arguments.insert(0, f"made: type[{result}]")
            body = _without_class(function, body)
        return msgspec.structs.replace(
            function,
            name=_plain_name(key, function),
            head=call("def \x03", arguments) + f" -> {result}:\n",
            body=body,
            helpers=helpers,
        )


def _one_of(name: str, classes: Iterable[ClassPath]) -> Helper:
    """A type variable for some classes."""
    listed = [f'"{type_mark(each)}"' for each in classes]
    return Helper(f"Any{name}", call("\x04 = TypeVar", ['"\x04"', *listed]) + "\n")


def _plain_name(key: PlanKey, function: Function) -> str:
    """A function's name, whichever version it leads to."""
    straight = {"api"} == {key.source.kind, key.target.kind}
    suffix = f"_to_{key.target.version.identifier}"
    return f"{function.name.removesuffix(suffix)}_to_other" if straight else function.name


def version_of(key: PlanKey) -> ApiVersion:
    """The version that a function is for: the source's on a way to storage, else the target's."""
    side = key.source if key.target.kind == "storage" else key.target
    return side.version


def _without_own(key: PlanKey, function: Function) -> str:
    """What a function does, in terms of a class to make and a version."""
    return _without_version(key, _without_class(function, function.body))


def _without_class(function: Function, body: str) -> str:
    return body.replace(f"{class_mark(function.target)}(", "made(")


def _without_version(key: PlanKey, body: str) -> str:
    version = text_literal(version_of(key).text)
    return _LITERAL.sub(lambda match: _OWN if match[0] == version else match[0], body)
