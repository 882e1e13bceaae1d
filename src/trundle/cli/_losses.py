"""Prints what would be lost if a version went."""

import json
from typing import TYPE_CHECKING

from trundle.cli._failures import CommandExit, ExitCode
from trundle.cli._printing import Format, one_line, print_data, print_text, say, table
from trundle.cli.project import print_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trundle.store import TypeLosses


def print_losses(found: "Sequence[TypeLosses]", output: Format) -> None:
    """Prints what would be lost of each resource type.

    Raises:
        CommandExit: something would be lost, or is still stored.
    """
    if output is Format.TABLE:
        print_text(_text(found))
        for each in found:
            print_findings((*each.unconvertible, *each.unseen), every=True)
    else:
        print_data([each.to_plain() for each in found], output.value)
    for each in found:
        for line in _said(each):
            say(f"{each.resource}: {line}")
    if not all(each.is_free for each in found):
        raise CommandExit(ExitCode.FINDINGS)


def _text(found: "Sequence[TypeLosses]") -> str:
    head = ("RESOURCE", "VERSION", "STORED IN IT", "EARLIER", "NOT CONVERTIBLE")
    rows: list[tuple[str, ...]] = [
        (
            each.resource,
            each.version,
            str(each.stored.objects if each.stored else 0),
            str(each.stored.earlier if each.stored else 0),
            str(len(each.unconvertible)),
        )
        for each in found
    ]
    lost: list[tuple[str, ...]] = [
        (
            each.resource,
            place.path,
            str(place.objects),
            f"{one_line(json.dumps(place.value, ensure_ascii=False))[:40]} in {place.example}",
        )
        for each in found
        for _, place in sorted(each.places.items())
    ]
    text = table(head, rows)
    if lost:
        text += "\n" + table(("RESOURCE", "SHOWN BY NO OTHER", "OBJECTS", "EXAMPLE"), lost)
    return text


def _said(found: "TypeLosses") -> list[str]:
    """What to do before the version goes."""
    said = []
    if found.is_hub:
        said.append(f"{found.version} is what the project stores; that has to be another one first")
    elif found.stored is not None or found.is_written:
        said.append(f"run `trundle store roll` before {found.version} leaves the project")
    if not found.remaining:
        said.append("no other version is served")
    elif found.is_free:
        said.append(f"nothing is lost without {found.version}")
    return said
