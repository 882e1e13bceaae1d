"""Errors of other file systems, whatever their libraries raise, with the file that they are about."""

import contextlib
import errno
import traceback
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Self

from trundle.errors import TrundleError
from trundle.parts._errors import UnreachableFolderError


@contextlib.contextmanager
def naming(file: str) -> Iterator[None]:
    """Names a file in the errors of a library.

    Raises:
        OSError: the library raised one; it names the file.
        UnreachableFolderError: the library raised an error of its own, as where a server does not answer.
    """
    try:
        yield
    except (TrundleError, MemoryError):
        raise
    except OSError as error:
        if type(error).__module__ != "builtins":  # Those of aiohttp, for example.
            raise _unreachable(file, error) from error
        if reason := _reason(error):
            raise _unreachable(file, reason) from error
        if error.filename is not None:
            raise
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(errno.ENOENT, "no such file or folder", file) from error
        text = error.strerror or str(error) or type(error).__name__
        raise type(error)(error.errno or errno.EIO, text, file) from error
    except Exception as error:
        if type(error).__module__ == "builtins" and not _is_said(error):
            raise  # A fault of a program says more as it is.
        raise _unreachable(file, error) from error


def _is_said(error: Exception) -> bool:
    """Whether fsspec itself says something by an error of Python, such as that a server gives no parts of files."""
    if not isinstance(error, ValueError | NotImplementedError):
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__", "")).startswith("fsspec.")


def _reason(error: OSError) -> BaseException | None:
    """Why a file cannot be found that may be there: fsspec says of an HTTP server that does not answer, or refuses, that there is no such file."""
    reason = error.__cause__
    if not isinstance(error, FileNotFoundError):
        return None
    if type(reason).__module__.startswith("aiohttp."):
        return None if getattr(reason, "status", None) == HTTPStatus.NOT_FOUND else reason
    return reason if isinstance(reason, ConnectionError | TimeoutError) else None


def _unreachable(file: str, error: BaseException) -> UnreachableFolderError:
    found = str(error) or type(error).__name__
    advice = (
        "check the address, the credentials and the network; the command goes on where it ended"
    )
    return UnreachableFolderError(file, "an answer of the file system", found, advice)


class NamedStream:
    """A file that is open in another file system; its errors name it.

    Args:
        stream: the file.
        file: as a user would write it.
    """

    def __init__(self, stream: Any, file: str) -> None:
        self._stream = stream
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, *size: int) -> Any:
        """Reads, as a stream does."""
        with naming(self._file):
            return self._stream.read(*size)

    def write(self, data: Any) -> Any:
        """Writes, as a stream does."""
        with naming(self._file):
            return self._stream.write(data)

    def close(self) -> None:
        """Closes it; what was written may be sent only now."""
        with naming(self._file):
            self._stream.close()
