"""The rules of drafts: which can still be changed and deployed."""

from collections.abc import Collection

from trundle.environments._errors import NoSuchDraftError, OutdatedDraftError
from trundle.environments._models import differences
from trundle.environments._records import Draft, Environment
from trundle.environments._rows import Rows
from trundle.errors import did_you_mean, listed

_LOOK = "look at it, and try again"


def draft_of(rows: Rows, environment: Environment, name: str) -> Draft | None:
    """A draft that can still be deployed; None where there is none.

    Raises:
        OutdatedDraftError: the environment has changed since it was begun.
    """
    found = next((each for each in rows.drafts(environment) if each.name == name), None)
    if found is not None:
        check_base(rows, environment, found.base)
    return found


def draft_to_deploy(rows: Rows, environment: Environment, name: str) -> Draft | None:
    """The draft that a deployment takes; None where it deploys what is wanted already.

    It takes none where none is named, and where the last deployment has taken the draft: its model is wanted already.

    Raises:
        NoSuchDraftError: there is none of that name, and the last deployment has not taken it.
        OutdatedDraftError: the environment has changed since it was begun.
    """
    found = draft_of(rows, environment, name) if name else None
    if found is None and name:
        drafts = rows.drafts(environment)
        last = rows.deployment(environment, environment.revision)
        if last is None:
            named(drafts, environment, name)
        elif last.draft != name:
            known = [each.name for each in drafts]
            advice = did_you_mean(name, known, "name no draft to deploy what is wanted already")
            raise _missing(known, environment, name, advice)
    return found


def check_base(rows: Rows, environment: Environment, base: int) -> None:
    """Makes sure that the wanted model is as it was when a draft was begun.

    Raises:
        OutdatedDraftError: it is not.
    """
    if environment.revision == base:
        return
    known = {each.number: each for each in rows.deployments(environment)}
    began = known[base].objects if base else None
    if not differences(began, known[environment.revision].objects):
        return
    notes = []
    for number in range(base + 1, environment.revision + 1):
        old, new = known.get(number - 1), known[number]
        by = f" by {new.by}" if new.by else ""
        changed = differences(None if old is None else old.objects, new.objects)
        what = ", ".join(changed) or "no object changed"
        notes.append(f"deployment {new.number} ({new.action}{by} at {new.begun}): {what}")
    expected = f"deployment {base}, with which the draft began" if base else "no deployment yet"
    advice = f"run `trundle env discard {environment.name}`, and make the draft again"
    raise OutdatedDraftError(environment.name, expected, "; ".join(notes), advice)


def check_root(environment: Environment, name: str, read: Environment) -> None:
    """Makes sure that an environment is still the one that was read: one that was purged and made anew meanwhile is another one.

    Args:
        environment: the environment as it is.
        name: the draft that is changed.
        read: the environment as it was read.

    Raises:
        OutdatedDraftError: it is another one.
    """
    if environment.root != read.root:
        expected, advice = f"the draft {name} in the environment as it was read", _LOOK
        found = f"another environment of that name, made at {environment.created}"
        raise OutdatedDraftError(environment.name, expected, found, advice)


def check_same(rows: Rows, environment: Environment, name: str, read: Draft | None) -> None:
    """Makes sure that a draft is still the one that was read: one that was discarded and made anew meanwhile is another one.

    Args:
        rows: the rows.
        environment: the environment.
        name: the draft.
        read: the draft as it was read; None where there was none.

    Raises:
        OutdatedDraftError: it is another one, or it was changed.
    """
    there = next((each for each in rows.drafts(environment) if each.name == name), None)
    check_tag(environment, name, there, "" if read is None else read.tag)


def check_tag(environment: Environment, name: str, there: Draft | None, tag: str | None) -> None:
    """Makes sure that a draft is the one that a client has read.

    Args:
        environment: the environment.
        name: the draft.
        there: the draft that there is; None where there is none.
        tag: the tag of the one that the client has read; empty where it has seen none, None where it does not say.

    Raises:
        OutdatedDraftError: it is another one.
    """
    if tag is not None and tag != ("" if there is None else there.tag):
        raise _changed(environment, name, there)


def named(drafts: tuple[Draft, ...], environment: Environment, name: str) -> Draft:
    """The draft of a name.

    Raises:
        NoSuchDraftError: there is none.
    """
    known = {each.name: each for each in drafts}
    if name not in known:
        advice = did_you_mean(name, known) if known else "add an application first, which makes it"
        raise _missing(known, environment, name, advice)
    return known[name]


def _missing(
    known: Collection[str], environment: Environment, name: str, advice: str
) -> NoSuchDraftError:
    found = f"only {listed(known)}" if known else "none"
    return NoSuchDraftError(environment.name, f"the draft {name}", found, advice)


def _changed(environment: Environment, name: str, there: Draft | None) -> OutdatedDraftError:
    by = f" by {there.by}" if there is not None and there.by else ""
    found = "none" if there is None else f"one that was changed{by} at {there.at}"
    expected, advice = f"the draft {name} as it was read", _LOOK
    return OutdatedDraftError(environment.name, expected, found, advice)
