"""How a command gets at an object model."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trundle.cli._failures import EXIT_CODES, CommandExit, unmet
from trundle.errors import Finding, shown

if TYPE_CHECKING:
    from trundle.documents import Node
    from trundle.engine import EngineError
    from trundle.models import ModelError

_WHOLE = "Objects"
_LARGEST = 4 * 1024 * 1024
"""The bytes of the largest model in which lines are looked for: a few seconds."""


def is_in_yaml(file: Path) -> bool:
    """Whether a model is written in YAML; in JSON otherwise."""
    return file.suffix != ".json"


def read_object(file: Path, what: str) -> dict[str, Any]:
    """The one object in a file of YAML or JSON.

    Args:
        file: the file.
        what: what messages call its content.

    Raises:
        CommandExit: the file has something else in it.
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
        CommandExit: the file has no single model in it.
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
        CommandExit: something is wrong with them.
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
        CommandExit: something is wrong with them.
    """
    from trundle.models import ModelError  # noqa: PLC0415

    try:
        yield
    except ModelError as error:
        raise _named(file, error) from None


def in_model(file: Path, findings: Sequence[Finding]) -> Iterator[str]:
    """What is wrong with a model, as text, with its file and the lines."""
    from trundle.documents import line_at  # noqa: PLC0415

    root = _nodes(file) if findings else None
    for each in findings:
        if each.place.file or not each.place.path or root is None:
            yield f"{file}: {each.coded}"
        else:
            line = line_at(root, each.place.path) or None
            yield replace(each, place=replace(each.place, file=str(file), line=line)).coded


def _nodes(file: Path) -> "Node | None":
    """The content of a file that was read before, with its lines; None where that takes long, or the reader that knows lines takes less."""
    from trundle.documents import UnreadableError, compose  # noqa: PLC0415

    try:
        data = file.read_bytes()
        return None if len(data) > _LARGEST else compose(data.decode(), str(file))[0][0]
    except (OSError, UnicodeDecodeError, UnreadableError, IndexError):
        return None


def _named(file: Path, error: "EngineError | ModelError") -> CommandExit:
    return CommandExit(EXIT_CODES[error.kind], *in_model(file, error.findings))
