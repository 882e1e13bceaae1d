"""All commands and where each one is, so that the start of a command imports no other."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

_PLACES = {
    "Schemas": {
        "init": "project:init",
        "generate": "project:generate",
        "check": "project:check",
        "lock": "project:lock",
        "convert": "convert:convert",
        "conform": "conform:conform",
        "verify": "verify:verify",
        "diff": "reports:diff",
        "stats": "reports:stats",
        "suggest": "reports:suggest",
        "map": "reports:map_",
        "explain": "reports:explain",
        "schema": "project:schema",
        "store": "store:app",
    },
    "Control plane": {
        "serve": "serve:serve",
        "ui": "ui:ui",
        "kubeconfig": "kubeconfig:kubeconfig",
        "kube": "kube:app",
    },
    "Packages and channels": {
        "publish": "publish:publish",
        "unpublish": "publish:unpublish",
        "promote": "publish:promote",
        "deprecate": "publish:deprecate",
        "mirror": "publish:mirror",
        "prune": "publish:prune",
        "search": "search:search",
        "channel": "channel:app",
        "catalog": "catalog:app",
        "model": "model:app",
        "package": "package:app",
        "keys": "keys:app",
    },
    "Installation": {
        "install": "install:install",
        "upgrade": "install:upgrade",
        "plan": "installed:plan",
        "approve": "install:approve",
        "unapprove": "install:unapprove",
        "hold": "install:hold",
        "unhold": "install:unhold",
        "rollback": "install:rollback",
        "uninstall": "install:uninstall",
        "tidy": "tidy:tidy",
        "status": "installed:status",
        "outdated": "search:outdated",
        "list": "installed:list_",
        "history": "installed:history",
        "agent": "installed:agent",
        "policy": "installed:policy_app",
        "forget": "forget:app",
    },
    "Environments": {
        "env": "env:app",
    },
}
"""Modules and what they call the commands and groups, by the part of `trundle --help` that lists them, in its order."""


class Commands(Mapping[str, Any]):
    """The commands by name. Each is imported where it is asked for.

    Args:
        settings: settings of Typer that hold for all commands.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._places = {
            name: (panel, place)
            for panel, places in _PLACES.items()
            for name, place in places.items()
        }
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The command of a name."""
        if name not in self._found:
            self._found[name] = self._imported(name, *self._places[name])
        return self._found[name]

    def _imported(self, name: str, panel: str, place: str) -> Any:
        module, _, attribute = place.partition(":")
        found = getattr(import_module(f"trundle.cli.{module}"), attribute)
        around = typer.Typer(**self._settings)
        around.callback()(_nothing)  # With it, what Typer makes is a group, also of one command.
        if isinstance(found, typer.Typer):
            around.add_typer(found, name=name, rich_help_panel=panel)
        else:
            around.command(name, rich_help_panel=panel)(found)
        group: Any = typer.main.get_command(around)
        return group.commands[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._places)


def _nothing() -> None:
    """What a group does besides its commands."""
