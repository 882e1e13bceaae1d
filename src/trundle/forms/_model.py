"""What a form is: steps with fields, and the object model that it describes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from trundle.engine.expressions import Code, Expression
from trundle.errors import Place


class FormVersion(NamedTuple):
    """A version of the format of forms, `2.0` to `2.4`."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


NEWEST = FormVersion(2, 4)
NAME_STEP = "workflowManagement"
NAME_FIELD = "application_name"
_NOWHERE = Place()


class FieldType(StrEnum):
    """What a field asks for."""

    STRING = "string"
    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    PASSWORD = "password"  # noqa: S105 - the name of a type
    CHOICE = "choice"
    CLUSTER_IP = "clusterip"
    DATABASES = "databaselist"
    NETWORK = "network"
    FLAVOR = "flavor"
    IMAGE = "image"
    KEY_PAIR = "keypair"
    ZONE = "zone"
    AVAILABILITY_ZONE = "azone"
    SECURITY_GROUP = "securitygroup"
    VOLUME = "volume"
    FLOATING_IP = "floatingip"
    DOMAIN = "domain"
    OBJECT = "object"
    """An object of a class: the definition has the name of the class in place of a type."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a value, or all answers together, must fulfil.

    Attributes:
        rule: an expression that must be true, or a pattern that must be found.
        message: what to say where it is not; may be empty.
        flags: the flags of the pattern, as `re` has them.
    """

    rule: Expression | str
    message: str = ""
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """A field as the form defines it; any attribute may have expressions in it.

    Attributes:
        name: its name in answers.
        type: what it asks for.
        classes: the classes of which it takes an object, where it does.
        attributes: what else is said of it, under names with underscores.
        place: where it is defined.
    """

    name: str
    type: FieldType
    classes: tuple[str, ...] = ()
    attributes: Mapping[str, Code] = field(default_factory=dict)
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True)
class Step:
    """Fields that are asked together.

    Attributes:
        name: its name in answers.
        fields: the fields, in order.
        checks: what the answers must fulfil after this step.
        place: where it is defined.
    """

    name: str
    fields: tuple[Definition, ...]
    checks: tuple[Check, ...] = ()
    place: Place = _NOWHERE


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a package.

    Attributes:
        version: the version of its format.
        steps: what it asks, in order; from 2.2 on the last one asks for the name of the application.
        application: the object model that it describes.
        templates: parts of object models, by name.
        parameters: values that are computed once, by name.
        parameters_source: the static method that gives further parameters, as `Class.method` or `method`; may be empty.
        file: what messages call its file.
    """

    version: FormVersion
    steps: tuple[Step, ...]
    application: Code
    templates: Mapping[str, Code] = field(default_factory=dict)
    parameters: Mapping[str, Code] = field(default_factory=dict)
    parameters_source: str = ""
    file: str = ""

    @property
    def asks_for_name(self) -> bool:
        """Whether the name of the application is asked by itself."""
        return self.version >= (2, 2)


class Choice(NamedTuple):
    """One of the values that a field offers."""

    value: Any
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field whose attributes are computed.

    Attributes:
        name: its name in answers.
        type: what it asks for.
        classes: the classes of which it takes an object, where it does.
        label: what people call it.
        description: what it is for.
        description_title: the heading of that.
        help_text: what to write.
        initial: the value that it has unless another is given.
        required: whether it must have a value.
        hidden: whether people are not asked for it.
        min_length: how long a text must be at least.
        max_length: how long it may be.
        min_value: how large a number must be at least.
        max_value: how large it may be.
        checks: what the value must fulfil.
        choices: the values that it offers.
        confirm_input: whether people are asked twice.
        required_message: what to say where a value is missing; may be empty.
        invalid_message: what to say where it is no such value; may be empty.
        allow_auto: whether a network may be chosen by the system.
    """

    name: str
    type: FieldType
    classes: tuple[str, ...] = ()
    label: str = ""
    description: str = ""
    description_title: str = ""
    help_text: str = ""
    initial: Any = None
    required: bool = True
    hidden: bool = False
    min_length: int | None = None
    max_length: int | None = None
    min_value: int | None = None
    max_value: int | None = None
    checks: tuple[Check, ...] = ()
    choices: tuple[Choice, ...] = ()
    confirm_input: bool = True
    required_message: str = ""
    invalid_message: str = ""
    allow_auto: bool = True
