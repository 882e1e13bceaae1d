"""Secrets of environments: which a database can keep, and which nothing refers to any more."""

import re
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trundle.engine.effects import secret_marker, secrets_in
from trundle.environments._errors import InvalidNameError, InvalidSecretError, NoSuchSecretError
from trundle.environments._records import Deployment, Environment, Model
from trundle.environments._rows import Rows
from trundle.errors import did_you_mean, listed

_SURROGATE = re.compile("[\ud800-\udfff]")
_PAGE = 20
"""How many deployments are read at a time."""


def check_secrets(secrets: Mapping[str, str]) -> None:
    """Makes sure that models can name secrets, and that each database can keep them as text.

    Raises:
        InvalidNameError: no secret can be called so.
        InvalidSecretError: one has a character that none can keep; the message does not show it.
    """
    for name, text in secrets.items():
        try:
            secret_marker(name)
        except ValueError:
            expected = "a name without braces"
            raise InvalidNameError("the secret", expected, repr(name), "correct it") from None
        if "\0" in text or _SURROGATE.search(text):
            expected, found = "a text in Unicode without NUL", "something else"
            advice = "encode it, for example as base64"
            raise InvalidSecretError(f"the secret {name}", expected, found, advice)


def check_kept(rows: Rows, environment: Environment, name: str) -> None:
    """Makes sure that an environment keeps a secret.

    Raises:
        NoSuchSecretError: it keeps none of that name.
    """
    known = rows.secrets(environment)
    if name not in known:
        found = f"only {listed(known)}" if known else "none"
        advice = did_you_mean(name, known, "name one of these") if known else "it keeps no secrets"
        raise NoSuchSecretError(environment.name, f"the secret {name}", found, advice)


class UnusedSecrets(NamedTuple):
    """Secrets that came with drafts, and to which nothing that was read refers any more.

    Attributes:
        names: their names.
        revision: the number of the last deployment that was known then; earlier ones change no more.
    """

    names: frozenset[str]
    revision: int


def unused_secrets(
    rows: Rows, environment: Environment, models: Collection[Model]
) -> UnusedSecrets:
    """Looks for secrets that came with drafts, and to which no effect and no deployment refers, nor any model of the drafts that are left.

    It reads as much of the history as it has to, so it is for a transaction that only reads.

    Args:
        rows: the rows.
        environment: the environment, as it was read in this transaction or before.
        models: the models of the drafts that are left.
    """
    left = rows.secrets_of_drafts(environment) - secrets_in([*models])
    return UnusedSecrets(frozenset(_unused(rows, environment, left, 0)), environment.revision)


def forget_unused(rows: Rows, environment: Environment, found: UnusedSecrets) -> None:
    """Removes secrets that were found unused, but for those to which something refers since.

    Args:
        rows: the rows, in a transaction that writes.
        environment: the environment.
        found: the secrets.
    """
    left = found.names & rows.secrets_of_drafts(environment)
    if left:
        left -= secrets_in([each.model for each in rows.drafts(environment)])
    for name in sorted(_unused(rows, environment, left, found.revision)):
        rows.forget_secret(environment, name)


def _unused(
    rows: Rows, environment: Environment, names: AbstractSet[str], since: int
) -> AbstractSet[str]:
    """Those of some secrets to which no effect refers, and no deployment from a number on."""
    left = names
    if left:
        left -= secrets_in([[x.wanted, x.before] for _, x in rows.effects(environment)])
    newest = _newest_first(rows, environment)
    while left and (deployment := next(newest, None)) and deployment.number >= since:
        left -= secrets_in([deployment.wanted, deployment.model])
    return left


def _newest_first(rows: Rows, environment: Environment) -> Iterator[Deployment]:
    before = None
    while page := rows.deployments(environment, before, _PAGE):
        yield from reversed(page)
        before = page[0].number
