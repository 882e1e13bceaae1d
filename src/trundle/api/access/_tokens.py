"""Bearer tokens, in the file that Kubernetes has for them: `token,user,uid,"group1,group2"`."""

import csv
import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from trundle.api.access._errors import AccessCode, AccessFileError
from trundle.api.access._users import User, with_default_group
from trundle.errors import Finding, Place

_COLUMNS = 3
_LINE = 'token,user,uid or token,user,uid,"group1,group2"'

Tokens: TypeAlias = Mapping[bytes, User]
"""Users by the digests of their tokens: what is looked up does not depend on how much of a token is right."""


def digest(token: str) -> bytes:
    """What stands for a token where users are looked up."""
    return hashlib.sha256(token.encode()).digest()


def read_tokens(path: Path) -> Tokens:
    """The users of a token file.

    Raises:
        AccessFileError: a line is not as it ought to be.
        OSError: the file cannot be read.
    """
    found: dict[bytes, User] = {}
    findings: list[Finding] = []

    def note(line: int, expected: str, what: str, advice: str) -> None:
        place = Place(str(path), line)
        findings.append(Finding(AccessCode.TOKENS, place, expected, what, advice))

    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        note(1, "text in UTF-8", "other bytes", "write the file in UTF-8")
        raise AccessFileError(findings) from None
    rows = csv.reader(io.StringIO(text), strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            note(rows.line_num, _LINE, str(error), "correct the quotes")
            break
        if row is None:
            break
        if not row:
            continue
        if len(row) < _COLUMNS:
            note(rows.line_num, _LINE, f"{len(row)} columns", "add what is missing")
            continue
        token, name, uid, groups = (*row, "")[:4]
        if not token or not name:
            missing = "user" if token else "token"
            note(rows.line_num, f"a {missing}", "empty text", f"write the {missing}")
        elif digest(token) in found:
            note(rows.line_num, "each token once", "one a second time", "remove one of the lines")
        else:
            user = User(name, uid, tuple(each for each in groups.split(",") if each))
            found[digest(token)] = with_default_group(user)
    if findings:
        raise AccessFileError(findings)
    return found
