"""The commands that make and replace a publisher's keys: keys init, rotate, renew."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._channels import ask_passphrase, new_passphrase, say_done
from trundle.cli._printing import Format, print_data, print_text, say, shown_path
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from trundle.channels.publishing import KeyFolder, MadeKeys
    from trundle.channels.reading.signatures import Signer

app = typer.Typer(no_args_is_help=True, help="Make and replace the keys that sign channels.")

Plain = Annotated[
    bool, typer.Option("--no-passphrase", help="Write the new keys without encrypting them.")
]


class RoleName(StrEnum):
    """The role whose key is replaced."""

    ROOT = "root"
    TARGETS = "targets"
    ONLINE = "online"


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the keys are written.")],
    *,
    no_passphrase: Plain = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Make the keys of a publisher, and the root that clients trust."""
    from trundle.channels.publishing import make_keys  # noqa: PLC0415

    passphrase = new_passphrase(plain=no_passphrase or dry_run)
    _print(make_keys(folder, passphrase, now=now(), dry_run=dry_run), output, dry_run=dry_run)
    if dry_run:
        return
    say("keep root-1.pem, root-2.pem and root-3.pem offline, each in another place")
    say(f"give {shown_path(folder / 'root.json')} to the users of your channels")


KeyFolderOption = Annotated[
    Path,
    typer.Option("--keys", metavar="DIR", envvar="TRUNDLE_KEYS", help="The folder with keys."),
]
RootKeys = Annotated[
    list[Path] | None,
    typer.Option(
        "--root-key",
        metavar="FILE",
        help="A root key that is kept elsewhere; two are needed.",
    ),
]


@app.command()
def rotate(
    role: Annotated[RoleName, typer.Argument(help="The role whose key is replaced.")],
    *,
    keys: KeyFolderOption,
    root_keys: RootKeys = None,
    no_passphrase: Plain = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Replace a key; channels get the new root with their next change or refresh."""
    from trundle.channels.publishing import replace_key  # noqa: PLC0415

    folder, signers = _open(keys, root_keys)
    passphrase = new_passphrase(plain=no_passphrase or dry_run)
    made = replace_key(folder, role.value, passphrase, signers, now=now(), dry_run=dry_run)
    _print(made, output, dry_run=dry_run)
    if dry_run:
        return
    say("publish to each channel, or refresh it, with these keys, so that clients get the new root")


@app.command()
def renew(
    *,
    keys: KeyFolderOption,
    root_keys: RootKeys = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Extend the validity period of the root by a year, with the same keys."""
    from trundle.channels.publishing import renew_root  # noqa: PLC0415

    folder, signers = _open(keys, root_keys)
    _print(renew_root(folder, signers, now=now(), dry_run=dry_run), output, dry_run=dry_run)
    if dry_run:
        return
    say("publish to each channel, or refresh it, with these keys, so that clients get the new root")


def _open(keys: Path, root_keys: list[Path] | None) -> "tuple[KeyFolder, tuple[Signer, ...]]":
    from trundle.channels.publishing import KeyFolder  # noqa: PLC0415

    folder = KeyFolder(keys, ask_passphrase)
    folder.roots()
    given = tuple(folder.read(path) for path in root_keys or ())
    return folder, given or folder.root_signers()


def _print(made: "MadeKeys", output: Format, *, dry_run: bool) -> None:
    names = [shown_path(each) for each in made.files]
    if output is Format.TABLE:
        print_text("".join(f"{name}\n" for name in names))
    else:
        print_data({"written": names, "dryRun": dry_run}, output.value)
    if dry_run:
        say_done(f"written {len(names)} files", dry_run=True)
