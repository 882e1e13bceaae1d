"""An effect: what shall be there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trundle.engine.effects._plain import Plain
from trundle.engine.effects._secrets import hidden, revealed
from trundle.errors import expectation


@dataclass(frozen=True, slots=True)
class Effect:
    """What shall be there, at one place.

    Attributes:
        provider: the name of the provider that sees to it.
        kind: what kind of thing it is: `document`, `file`, `process`, or what another provider takes.
        key: the provider and the place; effects with one key are about one thing.
        wanted: what shall be there; plain data, with markers in place of secrets.
        secrets: the secrets whose markers stand in it, by name; shown nowhere.
    """

    provider: str
    kind: str
    key: str
    wanted: Plain
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def revealed(self) -> Plain:
        """What shall be there, with its secrets: for the act alone.

        Raises:
            LookupError: a secret is no longer known.
            ValueError: two keys of a map are the same with their secrets.
        """
        try:
            return revealed(self.wanted, self.secrets)
        except KeyError as error:
            message = expectation(f"the secret {error.args[0]}", "no secret of that name")
            raise LookupError(message) from None

    def hidden(self, value: Plain) -> Plain:
        """Plain data with markers in place of its secrets; for texts that are cut before they are given back."""
        return hidden(value, self.secrets)
