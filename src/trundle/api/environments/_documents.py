"""Environments, drafts, deployments and actions as documents of a version of the API."""

from typing import Any

from trundle.api._asked import Version
from trundle.api.catalogs.own import shown
from trundle.environments import Action, ActionLine, Deployment, Draft, Environment, Overview


def environment(overview: Overview, version: Version) -> dict[str, Any]:
    """An environment."""
    found = overview.environment
    said: dict[str, Any] = {
        "name": found.name,
        "tenant": found.tenant,
        "state": overview.state,
        "created": found.created,
        "providers": list(found.providers),
        "uses": _uses(overview.uses),
        "drafts": list(overview.drafts),
        "secrets": list(overview.secrets),
    }
    if found.revision:
        said["deployment"] = found.revision
    return shown("Environment", said, version)


def draft(of: Environment, found: Draft, version: Version) -> dict[str, Any]:
    """A draft with its model."""
    said = {
        "name": found.name,
        "environment": of.name,
        "tenant": of.tenant,
        "base": found.base,
        "tag": found.tag,
        "by": found.by,
        "at": found.at,
        "uses": _uses(found.uses),
        "model": found.model,
    }
    return shown("Draft", said, version)


def deployment(
    of: Environment, found: Deployment, version: Version, *, model: bool
) -> dict[str, Any]:
    """A deployment; with its model where that is asked for."""
    said = {"environment": of.name, "tenant": of.tenant, **found.to_plain()}
    said = {name: value for name, value in said.items() if value not in ("", None)}
    if model and found.objects is not None:
        said["model"] = found.objects
    return shown("Deployment", said, version)


def action(found: Action, version: Version) -> dict[str, Any]:
    """An action."""
    said: dict[str, Any] = {
        "environment": found.environment,
        "tenant": found.tenant,
        "number": found.number,
        "action": found.action,
        "dryRun": found.dry_run,
        "by": found.by,
        "state": found.state,
        "created": found.created,
        "begun": found.begun,
        "ended": found.ended,
        "doing": found.doing,
        "effects": found.effects,
        "error": found.error,
        "result": found.result,
    }
    kept = {name: value for name, value in said.items() if value not in ("", None)}
    return shown("Action", kept, version)


def line(found: ActionLine) -> dict[str, Any]:
    """A line of the log of an action."""
    return {"number": found.number, "at": found.at, "line": found.line}


def _uses(found: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"name": name, "version": version} for name, version in found]
