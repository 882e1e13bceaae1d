"""Secrets of environments: which a database can keep, and which nothing refers to any more."""

import re
from collections.abc import Mapping

from trundle.engine.effects import secrets_in
from trundle.environments._errors import InvalidSecretError
from trundle.environments._records import Environment
from trundle.environments._rows import Rows

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_secrets(secrets: Mapping[str, str]) -> None:
    """Makes sure that each database can keep secrets as text.

    Raises:
        InvalidSecretError: one has a character that none can keep; the message does not show it.
    """
    for name, text in secrets.items():
        if "\0" in text or _SURROGATE.search(text):
            expected, found = "a text in Unicode without NUL", "something else"
            advice = "encode it, for example as base64"
            raise InvalidSecretError(f"the secret {name}", expected, found, advice)


def forget_unused(rows: Rows, environment: Environment) -> None:
    """Removes secrets that came with drafts, and to which no draft, deployment or effect refers any more."""
    left = rows.secrets_of_drafts(environment)
    for draft in rows.drafts(environment) if left else ():
        left -= secrets_in(draft.model)
    for _, record in rows.effects(environment) if left else ():
        left -= secrets_in([record.wanted, record.before])
    for deployment in rows.deployments(environment) if left else ():
        left -= secrets_in([deployment.wanted, deployment.model])
    for name in sorted(left):
        rows.forget_secret(environment, name)
