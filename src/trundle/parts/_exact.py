"""What is wrong with documents that have a member several times."""

from collections.abc import Sequence

from trundle.documents import UnreadableError, parse_json
from trundle.errors import expectation


def repeated_members(data: bytes) -> Sequence[str]:
    """What is wrong with a text that has a member several times."""
    try:
        parse_json(data.decode(), "")
    except UnreadableError as error:
        return [expectation(error.expected, error.found, error.advice)]
    return [expectation("each key once in an object", "one a second time")]
