"""What clients send about environments."""

from typing import Annotated, Any, TypeVar

import msgspec

from trundle.api._asked import Asked
from trundle.api._documents import require_bounded, too_deep
from trundle.api._status import bad_request, unsupported_media_type
from trundle.errors import expectation

B = TypeVar("B", bound=msgspec.Struct)
LARGEST = 2**31 - 1
"""The largest number that deployments, actions and lines can have in a database."""
_JSON = "application/json"
_MOST_DIGITS = len(str(LARGEST))


class NewEnvironment(msgspec.Struct, forbid_unknown_fields=True):
    """An environment to be made."""

    name: str
    place: str = ""


class NewPlace(msgspec.Struct, forbid_unknown_fields=True):
    """What an environment is to reach from now on."""

    place: str


class NewModel(msgspec.Struct, forbid_unknown_fields=True):
    """The model of a draft, in place of the one that it has."""

    model: dict[str, Any]
    tag: str | None = None


class NewSecret(msgspec.Struct, forbid_unknown_fields=True):
    """The text of a secret."""

    secret: str


class WantedNewestForm(msgspec.Struct, forbid_unknown_fields=True):
    """The form of a package that is to be shown, in the first version of the API, where a package is its latest version."""

    package: str
    form: str | None = None

    @property
    def named(self) -> str:
        """The package, with the versions that it may have."""
        return self.package


class WantedForm(WantedNewestForm, forbid_unknown_fields=True):
    """The same in the second version, where a package has versions.

    Attributes:
        version: the range of its versions; any where empty.
    """

    version: str = ""

    @property
    def named(self) -> str:
        """The package, with the versions that it may have."""
        return _in_versions(self.package, self.version)


class NewestApplication(WantedNewestForm, forbid_unknown_fields=True, rename="camel"):
    """An application to be added to a draft, in the first version of the API; its answers are to the form that it names."""

    answers: dict[str, Any] | None = None
    properties: dict[str, Any] | None = None
    class_name: str | None = msgspec.field(default=None, name="class")
    name: str | None = None
    tag: str | None = None


class NewApplication(NewestApplication, forbid_unknown_fields=True, rename="camel"):
    """The same in the second version, where a package has versions.

    Attributes:
        version: the range of its versions; any where empty.
    """

    version: str = ""

    @property
    def named(self) -> str:
        """The package, with the versions that it may have."""
        return _in_versions(self.package, self.version)


def _in_versions(package: str, versions: str) -> str:
    return f"{package}@{versions}" if versions else package


class Deploy(msgspec.Struct, forbid_unknown_fields=True):
    """A draft is to be deployed; where it is empty, what is wanted already.

    Attributes:
        draft: its name.
        tag: the tag of the draft that the client has read; any where None.
    """

    draft: str = ""
    tag: str | None = None


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """A method of a deployed object is to be called."""

    object: str
    method: str
    arguments: list[Any] = []
    named: dict[str, Any] = {}


class StaticCall(msgspec.Struct, forbid_unknown_fields=True):
    """A static method is to be called without an environment.

    Attributes:
        class_name: its class.
        version: the version of the class, or a range; the newest where None.
        package: the package of the class; None where only one has it.
    """

    class_name: str = msgspec.field(name="class")
    method: str
    version: str | None = None
    package: str | None = None
    arguments: list[Any] = []
    named: dict[str, Any] = {}


class Rollback(msgspec.Struct, forbid_unknown_fields=True):
    """The model of an earlier deployment is to be deployed."""

    deployment: Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]


class Upgrade(msgspec.Struct, forbid_unknown_fields=True):
    """Packages are to have their newest versions; all where none is named."""

    packages: list[str] = []
    major: bool = False


class Delete(msgspec.Struct, forbid_unknown_fields=True):
    """What was deployed is to be removed."""


def body_of(asked: Asked, kind: type[B]) -> B:
    """The body of a request; an empty one has what is not required.

    An empty one has a media type, too: a page of another site cannot make a browser send JSON
    (https://fetch.spec.whatwg.org/#cors-safelisted-request-header), but a form without fields, with the user's certificate.

    Raises:
        ApiError: it is not what the path takes.
    """
    if asked.media_type != _JSON:
        raise unsupported_media_type(asked.media_type, [_JSON])
    try:
        found = msgspec.json.decode(asked.body or b"{}", type=kind)
    except RecursionError:
        raise too_deep() from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        message = expectation("JSON as the path takes it", str(error), "correct the body")
        raise bad_request(message) from None
    require_bounded([*msgspec.structs.astuple(found)], asked.body)
    return found


def number_of(text: str) -> int | None:
    """The number of a deployment, an action or a line that a text is; None where it is none that they can have."""
    is_short = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_short and int(text) <= LARGEST else None
