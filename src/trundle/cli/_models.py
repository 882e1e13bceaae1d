"""How a command gets at an object model."""

from pathlib import Path
from typing import Any

from trundle.cli._failures import unmet


def is_in_yaml(file: Path) -> bool:
    """Whether a model is written in YAML; in JSON otherwise."""
    return file.suffix != ".json"


def read_model(file: Path) -> dict[str, Any]:
    """The model in a file.

    Raises:
        Refusal: the file has no single object in it.
        OSError: it cannot be read.
    """
    from trundle.documents import parse_values  # noqa: PLC0415

    documents = parse_values(file.read_bytes(), file=str(file), yaml=is_in_yaml(file))
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise unmet(str(file), "a model as one object", f"{len(documents)} documents")
    found: dict[str, Any] = documents[0]
    return found
