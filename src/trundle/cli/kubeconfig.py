"""The command that writes what kubectl needs to find a server, and to say who asks."""

import base64
import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from trundle.cli._failures import unmet
from trundle.cli._listening import LOCAL_HOST
from trundle.cli._printing import DocumentFormat, print_data
from trundle.cli.serve import DEFAULT_PORT, Port

_NAME = "trundle"


def kubeconfig(
    *,
    port: Port = DEFAULT_PORT,
    server: Annotated[
        str | None,
        typer.Option(
            "--server", metavar="URL", help="The server.", show_default="the port of this machine"
        ),
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option("--ca", metavar="FILE", help="The authority of the server's certificate."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(
            "--client",
            metavar="CERT,KEY",
            help="The certificate to show; or a folder with `tls.crt` and `tls.key`.",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help="The file that has the user's token."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The user of the token.")
    ] = None,
    namespace: Annotated[str, typer.Option(help="The namespace of commands.")] = "default",
    output: Annotated[
        DocumentFormat, typer.Option("--output-format", "-o", help="How to print it.")
    ] = DocumentFormat.JSON,
) -> None:
    """Write a kubeconfig for a server."""
    secured = ca is not None or client is not None
    url = server or f"http{'s' if secured else ''}://{LOCAL_HOST}:{port}"
    cluster: dict[str, Any] = {"server": url}
    if ca is not None:
        cluster["certificate-authority-data"] = _data(ca)
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": cluster}],
        "users": [{"name": _NAME, "user": _credentials(client, tokens, user)}],
        "contexts": [
            {"name": _NAME, "context": {"cluster": _NAME, "user": _NAME, "namespace": namespace}}
        ],
        "current-context": _NAME,
    }
    print_data(found, output.value)


def _credentials(client: str | None, tokens: Path | None, user: str | None) -> dict[str, Any]:
    """What shows who the user is: a certificate, a token, both or nothing."""
    found: dict[str, Any] = {}
    if client is not None:
        from trundle.api import certificate_files  # noqa: PLC0415

        certificate, key = certificate_files(client)
        found["client-certificate-data"] = _data(certificate)
        found["client-key-data"] = _data(key)
    if (tokens is None) != (user is None):
        raise unmet("--tokens and --user", "both or none", "one of them", "add the other")
    if tokens is not None and user is not None:
        found["token"] = _token(tokens, user)
    return found


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _token(path: Path, user: str) -> str:
    """The token of a user.

    Raises:
        CommandExit: the user has none.
    """
    from trundle.api import read_tokens  # noqa: PLC0415

    names = {each.name for each in read_tokens(path).values()}
    if user not in names:
        from trundle.errors import did_you_mean  # noqa: PLC0415

        advice = did_you_mean(user, names, "add a line")
        raise unmet(str(path), f"a token of {user}", "none", advice)
    with path.open(newline="", encoding="utf-8") as file:
        return next(row[0] for row in csv.reader(file) if row and row[1] == user)
