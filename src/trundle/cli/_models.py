"""How a command gets at an object model."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.cli._failures import EXIT_CODES, Refusal, unmet
from trundle.errors import shown

if TYPE_CHECKING:
    from trundle.engine import EngineError
    from trundle.models import ModelError

_WHOLE = "Objects"


def is_in_yaml(file: Path) -> bool:
    """Whether a model is written in YAML; in JSON otherwise."""
    return file.suffix != ".json"


def read_object(file: Path, what: str) -> dict[str, Any]:
    """The one object in a file of YAML or JSON.

    Args:
        file: the file.
        what: what messages call its content.

    Raises:
        Refusal: the file has something else in it.
        OSError: it cannot be read.
    """
    from trundle.documents import parse_values  # noqa: PLC0415

    documents = parse_values(file.read_bytes(), file=str(file), yaml=is_in_yaml(file))
    if len(documents) == 1 and isinstance(documents[0], dict):
        return documents[0]
    found = shown(documents[0]) if len(documents) == 1 else f"{len(documents)} documents"
    raise unmet(str(file), f"{what} as one object", found if documents else "nothing")


def read_model(file: Path) -> dict[str, Any]:
    """The object model in a file.

    Raises:
        Refusal: the file has no single model in it.
        OSError: it cannot be read.
    """
    from trundle.engine import HEADER  # noqa: PLC0415

    model = read_object(file, "a model")
    if _WHOLE not in model and HEADER not in model:
        expected = f"a model, with `{_WHOLE}`, or with the class of an object under `{HEADER}`"
        raise unmet(str(file), expected, "neither", f"add `{HEADER}: {{type: NAME}}`")
    return model


@contextlib.contextmanager
def naming_model(file: Path) -> Iterator[None]:
    """Adds the file of a model to what is wrong with its objects when they are loaded.

    Raises:
        Refusal: something is wrong with them.
    """
    from trundle.engine import EngineError  # noqa: PLC0415

    try:
        yield
    except EngineError as error:
        raise _named(file, error) from None


@contextlib.contextmanager
def naming_converted(file: Path) -> Iterator[None]:
    """Adds the file of a model to what is wrong with its objects when they are converted; an error of a class is none of the model.

    Raises:
        Refusal: something is wrong with them.
    """
    from trundle.models import ModelError  # noqa: PLC0415

    try:
        yield
    except ModelError as error:
        raise _named(file, error) from None


def _named(file: Path, error: "EngineError | ModelError") -> Refusal:
    return Refusal(EXIT_CODES[error.kind], *(f"{file}: {each.coded}" for each in error.findings))
