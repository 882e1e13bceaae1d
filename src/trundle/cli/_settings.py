"""The settings of the command line: which there are, and where each comes from.

What is given first counts:

1. an option of the command, such as `--state`;
2. an environment variable, such as `TRUNDLE_STATE`;
3. the user's file, `trundle/config.yaml` in `$XDG_CONFIG_HOME`, which is `~/.config` by default, or the file that
   `TRUNDLE_CONFIG` names;
4. the default.

Settings of a project are not among them: they are in its `trundle.yaml`. Nor is what other tools decide: proxies, and
the logins of registries in Docker's configuration.
"""

import getpass
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import typer

from trundle._environment import expanded, home, variables
from trundle.errors import Kind, TrundleError, did_you_mean, expectation

STATE = "TRUNDLE_STATE"
REGISTRY = "TRUNDLE_REGISTRY"
CATALOG = "TRUNDLE_CATALOG"
SERVER = "TRUNDLE_SERVER"
STORE = "TRUNDLE_STORE"
TENANT = "TRUNDLE_TENANT"
TOKEN = "TRUNDLE_TOKEN"  # noqa: S105 - the name of a variable
PASSPHRASE = "TRUNDLE_KEY_PASSPHRASE"  # noqa: S105 - the name of a variable
_CONFIG = "TRUNDLE_CONFIG"
_JOBS = "TRUNDLE_JOBS"
_KINDS: dict[str, type] = {
    "catalog": str,
    "jobs": int,
    "registry": str,
    "server": str,
    "state": str,
    "store": str,
    "tenant": str,
}


class SettingsError(TrundleError):
    """Settings in the environment or in the user's file that cannot be used."""

    kind = Kind.USAGE

    @property
    def messages(self) -> tuple[str, ...]:
        """Everything that is wrong."""
        return tuple(map(str, self.args))


class Settings(NamedTuple):
    """The settings of one run.

    Attributes:
        folder: the project's folder, or its file.
        state: the folder with what is installed.
        registry: the registry of references that name none; empty for none.
        jobs: how many processes to use; None for as many as there are processors.
        passphrase: the passphrase of the keys; None where it is asked for.
        catalog: the database of the catalog, as a file or a URL.
        tenant: the tenant of the catalog.
        server: the server of a catalog that is used instead of the database; empty for none.
        token: what the server knows the user by; None for none.
        store: the database of the store, as a file or a URL; empty where none is named.
    """

    folder: Path = Path()
    state: Path = Path()
    registry: str = ""
    jobs: int | None = None
    passphrase: str | None = None
    catalog: str = ""
    tenant: str = ""
    server: str = ""
    token: str | None = None
    store: str = ""

    @property
    def config_path(self) -> Path:
        """The project's file."""
        return self.folder if self.folder.is_file() else self.folder / "trundle.yaml"

    @property
    def project_store(self) -> str:
        """The database of the project's store."""
        return self.store or str(self.config_path.parent / "store.db")


def resolve(folder: Path, environment: Mapping[str, str], home: Path) -> Settings:
    """The settings of one run, but for the options of its command.

    Args:
        folder: the project's folder, or its file.
        environment: the environment variables.
        home: the user's folder.

    Raises:
        SettingsError: a value in the environment or in the user's file cannot be used; it says where.
    """
    file = _file_of(environment, home)
    base = environment.get("XDG_STATE_HOME")
    state = (Path(base) if base else home / ".local" / "state") / "trundle"
    state = expanded(environment.get(STATE) or file.get("state") or state)
    return Settings(
        folder=folder,
        state=state,
        registry=environment.get(REGISTRY) or file.get("registry", ""),
        jobs=_jobs(environment) or file.get("jobs"),
        passphrase=environment.get(PASSPHRASE),
        catalog=environment.get(CATALOG) or file.get("catalog") or str(state / "catalog.db"),
        tenant=environment.get(TENANT) or file.get("tenant", "default"),
        server=environment.get(SERVER) or file.get("server", ""),
        token=_token(environment),
        store=environment.get(STORE) or file.get("store", ""),
    )


def settings_of(context: typer.Context) -> Settings:
    """The settings that a command was called with."""
    return context.obj if isinstance(context.obj, Settings) else current()


def current() -> Settings:
    """The settings that do not depend on the project.

    Raises:
        SettingsError: as `resolve` has it.
    """
    return resolve_for(Path())


def resolve_for(folder: Path) -> Settings:
    """The settings of this process for a project's folder; the errors are those of `resolve`."""
    return resolve(folder, variables(), home())


def user_name() -> str:
    """The name of the user; empty where it is not known."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def wants_colours() -> bool:
    """Whether colours are wanted, also where other settings cannot be used: https://no-color.org."""
    return not variables().get("NO_COLOR")


def wants_traceback() -> bool:
    """Whether a bug shows its traceback, also where other settings cannot be used."""
    return bool(variables().get("TRUNDLE_TRACEBACK"))


def _token(environment: Mapping[str, str]) -> str | None:
    text = environment.get(TOKEN) or None
    return None if text is None else header_token(text, TOKEN)


def header_token(text: str, where: str) -> str:
    """A token that a request can have; it is in no message, whatever is wrong with it.

    Raises:
        SettingsError: no header can have it.
    """
    if text.isascii() and text.isprintable():
        return text
    message = expectation("a token of printable ASCII characters", "others in it", "correct it")
    raise SettingsError(f"{where}: {message}")


def _jobs(environment: Mapping[str, str]) -> int | None:
    text = environment.get(_JOBS, "")
    if not text:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)
    message = expectation("a number of processes", repr(text), "correct it, or leave it out")
    raise SettingsError(f"{_JOBS}: {message}")


def _file_of(environment: Mapping[str, str], home: Path) -> dict[str, Any]:
    """What the user's file says; nothing where there is none, unless it was named."""
    named = environment.get(_CONFIG)
    base = environment.get("XDG_CONFIG_HOME")
    usual = (Path(base) if base else home / ".config") / "trundle" / "config.yaml"
    path = Path(named) if named else usual
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if named:
            raise
        return {}
    return _read(path, content)


def _read(path: Path, content: bytes) -> dict[str, Any]:
    from trundle.documents import UnreadableError, decode, parse_yaml, plain  # noqa: PLC0415

    try:
        documents = parse_yaml(decode(content, str(path)), str(path))
    except UnreadableError as error:
        raise SettingsError(*error.messages) from None
    data = plain(documents[0].root) if documents else {}
    if len(documents) > 1 or not isinstance(data, dict):
        found = f"{len(documents)} documents" if len(documents) > 1 else "something else"
        expected = f"one document with the keys {', '.join(_KINDS)}"
        raise SettingsError(f"{path}: {expectation(expected, found, 'correct the file')}")
    findings = [each for name, value in data.items() if (each := _finding(path, name, value))]
    if findings:
        raise SettingsError(*findings)
    return data


def _finding(path: Path, name: str, value: object) -> str:
    """What is wrong with a key of the file; empty where nothing is."""
    kind = _KINDS.get(name)
    if kind is None:
        hint = did_you_mean(name, _KINDS, "remove it")
        message = expectation(f"one of {', '.join(_KINDS)}", repr(name), hint)
        return f"{path}: $.{name}: {message}"
    good = isinstance(value, kind) and not isinstance(value, bool)
    if good and (not isinstance(value, int) or value > 0):
        return ""
    expected = "a text" if kind is str else "a whole number above 0"
    return f"{path}: $.{name}: {expectation(expected, repr(value), 'correct it')}"
