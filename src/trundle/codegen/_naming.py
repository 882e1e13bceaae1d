"""Python names for whatever schemas call their types and properties."""

import builtins
import functools
import keyword
import re
from collections.abc import Iterable

from trundle.evolution import LONGEST, fitting, snake

_RESERVED_ATTRIBUTES = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *(name for name in dir(builtins) if name.islower()),
        "additional_properties",
        "bag",
        "convert_from_storage",
        "convert_to_storage",
        "msgspec",
        "property_bag",
        "unknown",
        "written_with",
    }
) - {"id", "type", "format", "filter", "range", "min", "max", "sum", "hash", "map", "all", "any"}
_RESERVED_CLASSES = frozenset(
    {
        *dir(builtins),
        *keyword.kwlist,
        "ABSENT",
        "ADDITIONAL",
        "Absent",
        "Any",
        "ApiObject",
        "BAG",
        "BAG_FIELD",
        "ClassVar",
        "FreeForm",
        "Literal",
        "Mapping",
        "PropertyBag",
        "Protocol",
        "Required",
        "Sequence",
        "StorageObject",
        "StrEnum",
        "TypedDict",
        "UNKNOWN",
        "WRITTEN_WITH",
        "WRITTEN_WITH_FIELD",
    }
)


_NUMBERED = 4
"""How many characters of it are left for a number behind it."""


def class_name(name: str, room: int = _NUMBERED) -> str:
    """A schema's type name as a Python class name; a long one is the end of it, with a digest of all of it.

    Args:
        name: the type's name.
        room: how many characters are left for what is put behind it.
    """
    words = re.split(r"[^0-9A-Za-z]+", name)
    joined = "".join(word[:1].upper() + word[1:] for word in words if word)
    if not joined or not joined.isascii():
        joined = "".join(letter if letter.isalnum() else "_" for letter in joined or "Type")
    if joined[0].isdigit():
        joined = f"Type{joined}"
    joined = fitting(joined, LONGEST - room)
    return f"{joined}_" if joined in _RESERVED_CLASSES else joined


@functools.lru_cache(maxsize=1 << 16)
def attribute_name(name: str) -> str:
    """A property's name as a Python attribute, without regard to other properties."""
    plain = snake(re.sub(r"[^0-9A-Za-z_]", "_", name)) or "value"
    if plain[0].isdigit():
        plain = f"n{plain}"
    plain = fitting(plain, LONGEST - _NUMBERED)
    return f"{plain}_" if plain in _RESERVED_ATTRIBUTES else plain


def attribute_names(names: Iterable[str], occupied: Iterable[str] = ()) -> dict[str, str]:
    """Attributes for all properties of a type; two that would share a name are numbered.

    Args:
        names: the properties' names.
        occupied: attributes that the type has already.
    """
    taken: dict[str, str] = dict.fromkeys(occupied, "")
    found: dict[str, str] = {}
    for name in sorted(names):
        plain = attribute_name(name)
        unique, number = plain, 2
        while unique in taken:
            unique, number = f"{plain}_{number}", number + 1
        taken[unique] = name
        found[name] = unique
    return found


def camel(attribute: str) -> str:
    """The document name that generated classes give an attribute by default."""
    first, *rest = attribute.split("_")
    return first + "".join(word.title() for word in rest)


NAME_LIMIT = 56
"""How long the name of a function may be before it is numbered."""


def shortened(name: str, suffix: str = "") -> str:
    """A name of words with a suffix; where that is too long, without its first words."""
    words = name.split("_")
    while len(words) > 1 and len("_".join(words)) + len(suffix) > NAME_LIMIT:
        words.pop(0)
    return ("_".join(words) + suffix)[-NAME_LIMIT:].lstrip("_")


def first_free(names: Iterable[str], taken: set[str]) -> str:
    """The first of some names that is not taken, which it is from now on; the first numbered where all are.

    Args:
        names: the names, the plainest first.
        taken: the names that others have; grows.
    """
    tried = list(names)
    name = next((each for each in tried if each not in taken), "")
    number = 2
    while not name:
        numbered = f"{tried[0]}_{number}"
        name, number = ("" if numbered in taken else numbered), number + 1
    taken.add(name)
    return name
