"""Reads the JSON of channel files exactly: nothing twice, no number rounded, no text that cannot be written again."""

import json
from typing import Any, NoReturn

import msgspec

from trundle.channels._refusals import RefusalCode
from trundle.errors import Finding, Kind, Place, TrundleError

_LONGEST_INTEGER = 18
"""Integers with more digits are kept as they are spelled; none is meant to be counted with."""


class JsonError(TrundleError):
    """Bytes that are not the JSON that is wanted."""

    kind = Kind.VERIFICATION

    def __init__(self, where: str, expected: str, found: str, advice: str) -> None:
        code = RefusalCode.INVALID_FILE
        finding = Finding(code, Place(where), expected, found, advice)
        self.findings = (finding,)
        super().__init__(str(finding))


def decode(data: bytes, where: str, longest: int) -> Any:
    """Reads bytes as one JSON value; numbers that Python would change are `msgspec.Raw`.

    Args:
        data: the bytes.
        where: names the file.
        longest: how many bytes it may have.

    Raises:
        JsonError: it is too long, not JSON, or JSON that readers might understand differently.
    """
    advice = "ask the server's operator for the file that was published"
    if len(data) > longest:
        raise JsonError(
            where, f"a file of at most {longest:,} bytes", f"{len(data):,} bytes", advice
        )
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_raw,
            parse_int=_integer,
            parse_constant=_refuse,
        )
        msgspec.json.encode(value)
    except UnicodeDecodeError as error:
        found = f"the byte 0x{data[error.start]:02x} at position {error.start}"
        raise JsonError(where, "UTF-8 text", found, advice) from None
    except UnicodeEncodeError:
        raise JsonError(where, "Unicode text", "half a surrogate pair", advice) from None
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}:{error.colno}"
        raise JsonError(at, "JSON", _found(error), advice) from None
    except RecursionError:
        raise JsonError(where, "a few levels of lists and objects", "far more", advice) from None
    except _TwiceError as error:
        found = f"{error.args[0]!r} twice"
        raise JsonError(where, "each key once in an object", found, advice) from None
    except _NotFiniteError as error:
        raise JsonError(where, "finite numbers", str(error.args[0]), advice) from None
    return value


def text_of(value: Any) -> str:
    """The JSON text of a value that `decode` read; numbers as they were spelled."""
    return msgspec.json.encode(value).decode()


class _TwiceError(Exception):
    pass


class _NotFiniteError(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        raise _TwiceError(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return result


def _raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


def _integer(text: str) -> int | msgspec.Raw:
    return _raw(text) if len(text) > _LONGEST_INTEGER or text == "-0" else int(text)


def _refuse(text: str) -> NoReturn:
    raise _NotFiniteError(text)


def _found(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos :]
    if not rest:
        return "the end of the file"
    return f"{error.msg[0].lower()}{error.msg[1:]}"
