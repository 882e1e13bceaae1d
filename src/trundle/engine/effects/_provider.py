"""What acts: a provider for each part of the world that a run may reach."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection

from trundle.engine.effects._effect import Effect
from trundle.engine.effects._journal import Record
from trundle.engine.effects._plain import Plain
from trundle.errors import Kind, TrundleError


class ProviderError(TrundleError):
    """What a provider refuses, or fails to do. Say where, what was expected, what was found and what to do; secrets are taken out."""

    def __init__(self, message: str, kind: Kind = Kind.FAILED) -> None:
        self.kind = kind
        super().__init__(message)


class Provider(ABC):
    """Carries out effects of some kinds.

    A provider is used by one run at a time. Each of its acts may be repeated: after a crash nothing but the journal is known, which says
    that the act was about to begin.

    Attributes:
        kinds: the kinds of effects that it takes.
    """

    kinds: Collection[str] = ()

    @abstractmethod
    def place(self, kind: str, wanted: Plain) -> str:
        """Where an effect is, in one spelling: effects with one place are about one thing. It must not depend on anything but its arguments.

        Args:
            kind: the kind of effect.
            wanted: what shall be there, with markers in place of secrets.

        Raises:
            ProviderError: the provider takes no such thing.
        """

    def check(self, effect: Effect, now: Record | None) -> None:  # noqa: B027 - most need none
        """Refuses what must not be done; called before anything is written down, and by a dry run, but not for what is there already by what the journal says. It must not act.

        Args:
            effect: the effect.
            now: what the journal has of it; None where it has nothing.

        Raises:
            ProviderError: it is refused.
        """

    def show(self, kind: str, wanted: Plain) -> str:
        """What is wanted as text, for a diff; JSON by default."""
        del kind
        return json.dumps(wanted, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def foresee(self, effect: Effect) -> Plain:
        """The outcome as far as it is known before the act, for a dry run; None by default. It must not act."""
        del effect
        return None

    @abstractmethod
    def apply(self, effect: Effect, before: Record | None) -> Plain:
        """Sees to it that what is wanted is there, whatever part of it already is.

        Args:
            effect: the effect.
            before: what the journal had of it before; None where it had nothing.

        Returns:
            The outcome, as plain data. It is written down, and the answer to code that wants the same again.

        Raises:
            ProviderError: it fails; the next run that wants the effect tries again.
        """

    @abstractmethod
    def remove(self, effect: Effect, outcome: Plain) -> None:
        """Sees to it that what an effect made is gone, also if there never was any of it.

        Args:
            effect: the effect as it was begun last.
            outcome: how it came out when it was done last; None where it never was.

        Raises:
            ProviderError: it fails; the next run that does not want the effect tries again.
        """
