"""What forms on pages consist of: fields with a value, and groups of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from trundle.api import field_path
from trundle.dashboard._nodes import Path
from trundle.documents import Node

Control: TypeAlias = Literal["text", "lines", "number", "choice", "yaml", "secret"]


class Choice(NamedTuple):
    """One of the values that a field may have.

    Attributes:
        value: what browsers send for it.
        label: what people see.
    """

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a form shows.

    Attributes:
        path: where it stands.
        label: what people call it.
        control: how it is shown: `lines` is text of several lines, and `yaml` any value.
        value: what is shown; empty where there is no value.
        required: whether there has to be a value.
        doc: what it is for; may be empty.
        note: its type and its limits, in words.
        choices: the values of a `choice`.
        placeholder: what holds where there is no value; may be empty.
        is_element: whether it is an element of a list or map, or a member that its type does not know: it is removed as a whole.
        decides: whether its value decides which other fields there are.
        key: its key in a map, where a user may give it another one.
        is_repeated: whether people write it twice.
    """

    path: Path
    label: str
    control: Control
    value: str = ""
    required: bool = False
    doc: str = ""
    note: str = ""
    choices: tuple[Choice, ...] = ()
    placeholder: str = ""
    is_element: bool = False
    decides: bool = False
    key: str | None = None
    is_repeated: bool = False

    @property
    def name(self) -> str:
        """What browsers call it."""
        return name_of(self.path)

    @property
    def again_name(self) -> str:
        """What browsers call the second time that it is written."""
        return f"again {self.name}"

    @property
    def rename_name(self) -> str:
        """What browsers call its key."""
        return f"rename {self.name}"

    @property
    def place(self) -> str:
        """What errors call it."""
        return field_path(self.path)


@dataclass(frozen=True, slots=True)
class Group:
    """Values that stand in one object, list or map.

    Attributes:
        path: where it stands.
        label: what people call it.
        members: what is in it.
        is_there: whether the document has it.
        required: whether it has to.
        doc: what it is for; may be empty.
        note: its type and its limits, in words.
        initial: what is added to the document where it has none; None where it is always there.
        item: what is added to the list or map; None where nothing can be.
        is_keyed: whether what is added needs a key.
        is_element: whether it is an element of a list or map.
        key: its key in a map, where a user may give it another one.
    """

    path: Path
    label: str
    members: tuple["Part", ...] = ()
    is_there: bool = True
    required: bool = False
    doc: str = ""
    note: str = ""
    initial: Node | None = None
    item: Node | None = None
    is_keyed: bool = False
    is_element: bool = False
    key: str | None = None

    @property
    def name(self) -> str:
        """What browsers call it."""
        return name_of(self.path)

    @property
    def rename_name(self) -> str:
        """What browsers call its key."""
        return f"rename {self.name}"

    @property
    def place(self) -> str:
        """What errors call it."""
        return field_path(self.path)

    @property
    def key_name(self) -> str:
        """What browsers call the key of what is added."""
        return f"key {self.name}"


Part: TypeAlias = Field | Group


def name_of(path: Path) -> str:
    """A place as browsers send it: letters that they leave as they are."""
    return "".join(f"/{quote(str(each), safe='')}" for each in path)


def parts_in(group: Group) -> Iterator[Part]:
    """All fields and groups in a group, itself first."""
    yield group
    for each in group.members:
        if isinstance(each, Group):
            yield from parts_in(each)
        else:
            yield each


def fields_in(group: Group) -> Iterator[Field]:
    """All fields of a group, those of groups in it too."""
    return (each for each in parts_in(group) if isinstance(each, Field))


def groups_in(group: Group) -> Iterator[Group]:
    """A group, and all groups in it."""
    return (each for each in parts_in(group) if isinstance(each, Group))
