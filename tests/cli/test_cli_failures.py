import ast
import errno

import house
import pytest
import typer

from trundle import packages
from trundle.cli._failures import (
    CommandExit,
    ExitCode,
    exit_code,
    failures_reported,
    messages_of,
    unmet,
)
from trundle.documents import DocumentCode
from trundle.errors import Finding, Place
from trundle.evolution import ChangeError
from trundle.project import AlreadyExistsError, ConfigError, OutputBusyError, UnreadableError
from trundle.report import ReportError
from trundle.runtime import ConversionError, DocumentError, UnknownVersionError
from trundle.runtime._errors import finding
from trundle.schema import SchemaError
from trundle.schema.readers import SchemaErrors
from trundle.version import VersionError

X = Finding(DocumentCode.VALUE, Place("a", 1), "x", "y", "z")
Y = Finding(DocumentCode.VALUE, Place("b"), "", "y")


@pytest.mark.parametrize(
    ("error", "code", "messages"),
    [
        (CommandExit(ExitCode.USAGE, "no"), 2, ("no",)),
        (
            unmet("--to", "a package", "none", "name one"),
            2,
            ("--to: expected a package, found none; name one",),
        ),
        (unmet("", "one", "two", code=ExitCode.CONFLICT), 8, ("expected one, found two",)),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.yaml"), 5, ("a.yaml: No such file",)),
        (PermissionError(errno.EACCES, "Permission denied", "a"), 1, ("a: Permission denied",)),
        (RecursionError(), 1, ("the input is nested too deeply; make it flatter",)),
        (
            ConfigError([X, Y]),
            3,
            ("a:1: expected x, found y; z [wrong-value]", "b: y [wrong-value]"),
        ),
        (
            AlreadyExistsError(["a"]),
            4,
            (
                "a: expected no such file, found one; remove it, or choose another folder [file-exists]",
            ),
        ),
        (OutputBusyError(None, [Y]), 8, ("b: y [wrong-value]",)),
        (
            UnreadableError("f", 3, "x", "y", "z"),
            1,
            ("f:3: expected x, found y; z [unreadable-document]",),
        ),
        (SchemaError("f", "#/a", "bad"), 1, ("f#/a: bad [invalid-schema]",)),
        (
            SchemaErrors([SchemaError("f", "#", "bad"), SchemaError("g", "#", "worse")]),
            1,
            ("f#: bad [invalid-schema]", "g#: worse [invalid-schema]"),
        ),
        (packages.FolderExistsError([Y]), 4, ("b: y [wrong-value]",)),
        (packages.ManifestMissingError([Y]), 5, ("b: y [wrong-value]",)),
        (packages.ManifestError([Y]), 3, ("b: y [wrong-value]",)),
        (packages.PackError([Y]), 3, ("b: y [wrong-value]",)),
        (packages.UnpackError([Y]), 6, ("b: y [wrong-value]",)),
        (ChangeError("t:1", "no"), 3, ("t:1: no",)),
        (
            ReportError("type", "x", ["y"]),
            5,
            ("expected a type of the schemas, found 'x'; write one of y [unknown-name]",),
        ),
        (VersionError("bad"), 2, ("bad",)),
        (UnknownVersionError("no such"), 5, ("no such",)),
        (ConversionError("failed"), 1, ("failed",)),
        (
            DocumentError(
                "Person v1", [finding("$.a", "x", "y"), finding("$.b", "v", "w", "do z")]
            ),
            3,
            (
                (
                    "not a valid Person v1:\n"
                    "  Expected x, got y - at $.a\n"
                    "  Expected v, got w; do z - at $.b"
                ),
            ),
        ),
    ],
)
def test_every_error_has_its_exit_code_and_messages(error, code, messages):
    assert exit_code(error) == code
    assert messages_of(error) == messages


def test_a_bug_has_no_exit_code():
    assert exit_code(AssertionError()) is None
    with pytest.raises(AssertionError), failures_reported():
        raise AssertionError


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141)])
def test_interruptions_are_quiet(error, code, capsys, monkeypatch):
    monkeypatch.setattr("trundle.cli._failures.close_output", lambda: None)
    with pytest.raises(typer.Exit) as caught, failures_reported():
        raise error
    assert caught.value.exit_code == code
    assert capsys.readouterr() == ("", "")


def test_commands_leave_the_wording_of_what_is_expected_to_one_place():
    by_hand = [
        f"{path.name}:{node.lineno}"
        for path in (house.ROOT / "src" / "trundle" / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str) and ", found " in node.value
    ]
    assert not by_hand
