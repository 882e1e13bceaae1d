"""The types of what models give, as annotations of Python classes; maps with constant keys are dictionary types."""

import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping

from trundle.engine import Type
from trundle.engine.schemas import Constant, Entries, Items, Objects, OrNull, Plain, PythonType


class Annotations:
    """The types of properties in one module, and the dictionary types that these need.

    Args:
        spell: what the module calls a class.
        taken: names that dictionary types cannot have.
    """

    def __init__(self, spell: Callable[[Type], str], taken: Iterable[str]) -> None:
        self._spell = spell
        self._taken = set(taken)
        self._named: dict[Entries, str] = {}
        self.dictionaries: list[str] = []
        """Lines with those that were asked for since they were taken out."""

    def of(self, type_: PythonType, name: str) -> str:
        """The annotation of a type.

        Args:
            type_: the type.
            name: what a dictionary type for it is called.
        """
        match type_:
            case Plain(plain):
                return plain or "Any"
            case Constant(None):
                return "None"
            case Constant(value):
                return f"Literal[{json.dumps(value) if isinstance(value, str) else value}]"
            case Objects(types):
                return " | ".join([*map(self._spell, types), "str"])
            case OrNull(value):
                return f"{self.of(value, name)} | None"
            case Items(values):
                return f"list[{self.of(values, name)}]"
            case Entries(named, None) if named:
                return self._dictionary(type_, name)
            case Entries(named, others, keys):
                every = [each for _, each in named] + ([] if others is None else [others])
                bare = (each.value if isinstance(each, OrNull) else each for each in every)
                texts = dict.fromkeys(self.of(each, name) for each in bare)
                if any(isinstance(each, OrNull) for each in every):
                    texts["None"] = None
                key = _key(keys)
                key = key if key == "str" or not named else "Any"
                return f"dict[{key}, {'Any' if 'Any' in texts else ' | '.join(texts)}]"

    def _dictionary(self, entries: Entries, name: str) -> str:
        if entries in self._named:
            return self._named[entries]
        found, number = name, 2
        while found in self._taken:
            found, number = f"{name}{number}", number + 1
        self._taken.add(found)
        self._named[entries] = found
        members = {}
        for key, each in entries.named:
            text = self.of(each, found + capitalized(key))
            members[key] = f"Required[{text}]" if key in entries.required else text
        self.dictionaries += ["", "", *_dictionary_lines(found, members)]
        return found

    def taken_out(self) -> list[str]:
        """The lines of dictionary types, which are not given again."""
        lines, self.dictionaries = self.dictionaries, []
        return lines


def _dictionary_lines(name: str, members: Mapping[str, str]) -> list[str]:
    """A dictionary type: as a class, where the keys can be written as names."""
    if all(_is_plain(each) for each in members) and not any(
        re.search(rf"\b{key}\b", text) for key in members for text in members.values()
    ):
        lines = [f"    {key}: {text}" for key, text in members.items()]
        return [f"class {name}(TypedDict, total=False):", *lines]
    lines = [f"        {json.dumps(key)}: {json.dumps(text)}," for key, text in members.items()]
    return [
        f"{name} = TypedDict(",
        f"    {json.dumps(name)},",
        "    {",
        *lines,
        "    },",
        "    total=False,",
        ")",
    ]


def _is_plain(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__")


def _key(type_: PythonType) -> str:
    """The annotation of keys; null is none that authors write."""
    bare = type_.value if isinstance(type_, OrNull) else type_
    return (bare.type or "Any") if isinstance(bare, Plain) else "Any"


def capitalized(name: str) -> str:
    return "".join(each[:1].upper() + each[1:] for each in re.split(r"[\W_]+", name))
