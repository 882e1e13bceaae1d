"""The one place that turns errors into messages and exit codes."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from enum import IntEnum

import typer

from trundle.cli._printing import complain, say


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    FINDINGS = 3
    EXISTS = 4
    NOT_FOUND = 5
    VERIFICATION_FAILED = 6
    UNREACHABLE = 7
    CONFLICT = 8
    UPDATE_AVAILABLE = 10
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Refusal(Exception):  # noqa: N818 - most refusals are no errors
    """A command that ends with an exit code of its own, after messages.

    Attributes:
        code: the exit code.
        messages: what went wrong; may be empty where that was printed as the result.
    """

    def __init__(self, code: ExitCode, *messages: str) -> None:
        self.code = code
        self.messages = messages
        super().__init__("\n".join(messages))


@contextlib.contextmanager
def failures_reported() -> Iterator[None]:
    """Turns the errors of a command into messages and an exit code.

    Raises:
        Exit: something went wrong that a user can do something about.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        _close_output()
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except typer.Exit:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            _close_output()
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None
        code = exit_code(error)
        if code is None:
            raise
        for message in messages_of(error):
            complain(message)
        raise typer.Exit(code) from None


def exit_code(error: Exception) -> ExitCode | None:
    """The exit code for an error; None for one that only a bug can cause."""
    if isinstance(error, Refusal):
        return error.code
    if isinstance(error, FileNotFoundError):
        return ExitCode.NOT_FOUND
    if isinstance(error, OSError | RecursionError | MemoryError):
        return ExitCode.FAILED
    if isinstance(error, ImportError) and error.name is None:  # It names the extra to install.
        return ExitCode.FAILED
    refused = getattr(getattr(error, "code", None), "exit_code", None)
    if isinstance(refused, int):  # A refusal by a rule of channels says itself how a command ends.
        return ExitCode(refused)
    for kind, code in (*_codes(), *_registry_codes(), *_trust_codes()):
        if isinstance(error, kind):
            return code
    return None


def _codes() -> tuple[tuple[type[Exception], ExitCode], ...]:
    """The exit code of each kind of error; the first that fits counts."""
    from trundle import packages, project, runtime  # noqa: PLC0415
    from trundle.evolution import ChangeError  # noqa: PLC0415
    from trundle.report import ReportError  # noqa: PLC0415
    from trundle.schema import SchemaError  # noqa: PLC0415
    from trundle.version import VersionError  # noqa: PLC0415

    return (
        (project.AlreadyExistsError, ExitCode.EXISTS),
        (project.ConfigMissingError, ExitCode.NOT_FOUND),
        (project.NotGeneratedError, ExitCode.NOT_FOUND),
        (project.OutputBusyError, ExitCode.CONFLICT),
        (project.ConfigError, ExitCode.FINDINGS),
        (project.FindingsError, ExitCode.FINDINGS),
        (project.OutputRefusedError, ExitCode.FINDINGS),
        (project.ProjectError, ExitCode.FAILED),
        (project.DocumentError, ExitCode.FAILED),
        (packages.FolderExistsError, ExitCode.EXISTS),
        (packages.ManifestMissingError, ExitCode.NOT_FOUND),
        (packages.ManifestError, ExitCode.FINDINGS),
        (packages.PackError, ExitCode.FINDINGS),
        (packages.UnpackError, ExitCode.VERIFICATION_FAILED),
        (packages.PackageError, ExitCode.FAILED),
        (ChangeError, ExitCode.FINDINGS),
        (ReportError, ExitCode.NOT_FOUND),
        (SchemaError, ExitCode.FAILED),
        (VersionError, ExitCode.USAGE),
        (runtime.UnknownVersionError, ExitCode.NOT_FOUND),
        (runtime.DocumentError, ExitCode.FINDINGS),
        (runtime.ConversionError, ExitCode.FAILED),
    )


def _registry_codes() -> tuple[tuple[type[Exception], ExitCode], ...]:
    """The exit code of each kind of error of registries and of what they hold."""
    from trundle import channels, registry  # noqa: PLC0415
    from trundle.channels import installing  # noqa: PLC0415

    return (
        (installing.StateBusyError, ExitCode.CONFLICT),
        (installing.StateError, ExitCode.FAILED),
        (channels.ChannelFileError, ExitCode.VERIFICATION_FAILED),
        (channels.PolicyError, ExitCode.FINDINGS),
        (channels.ChannelError, ExitCode.VERIFICATION_FAILED),
        (registry.InvalidReferenceError, ExitCode.USAGE),
        (registry.UnreachableError, ExitCode.UNREACHABLE),
        (registry.UnauthorisedError, ExitCode.UNREACHABLE),
        (registry.NotFoundError, ExitCode.NOT_FOUND),
        (registry.DigestMismatchError, ExitCode.VERIFICATION_FAILED),
        (registry.InvalidManifestError, ExitCode.VERIFICATION_FAILED),
        (registry.TooLargeError, ExitCode.VERIFICATION_FAILED),
        (registry.ConflictError, ExitCode.CONFLICT),
        (registry.RefusedError, ExitCode.FINDINGS),
        (registry.RegistryError, ExitCode.FAILED),
    )


def _trust_codes() -> tuple[tuple[type[Exception], ExitCode], ...]:
    """The exit code of each kind of error of signatures, where those can be had."""
    try:
        from trundle.channels import publishing, trust  # noqa: PLC0415 - needs an extra
    except ImportError:
        return ()
    return (
        (trust.TrustError, ExitCode.VERIFICATION_FAILED),
        (publishing.KeysExistError, ExitCode.EXISTS),
        (trust.KeyFileError, ExitCode.FAILED),
    )


def messages_of(error: Exception) -> tuple[str, ...]:
    """What went wrong, one message for each finding."""
    if isinstance(error, Refusal):
        return error.messages
    if isinstance(error, RecursionError):
        return ("the input is nested too deeply; make it flatter",)
    if isinstance(error, MemoryError):
        return ("there is not enough memory for this input",)
    refusals = getattr(error, "refusals", None)
    if refusals:  # Of a channel file's findings, those that are errors.
        return tuple(map(str, refusals))
    findings = getattr(error, "findings", None) or getattr(error, "errors", None)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        return (f"{place}{error.strerror or error}",)
    if findings and not hasattr(error, "subject"):
        return tuple(str(each) for each in findings)
    return (str(error),)


def report_bug(error: Exception) -> None:
    """Tells of an error that nobody thought of."""
    complain(f"unexpected {type(error).__name__}: {error}")
    say("This is a bug in Trundle. Set TRUNDLE_TRACEBACK=1 to see where, and report it.")


def _close_output() -> None:
    """Keeps Python from complaining about the broken pipe once more at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
