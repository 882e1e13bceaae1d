"""The journal of effects: what was begun, what was done, and with which outcome."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from trundle.engine.effects._effect import Effect
from trundle.engine.effects._plain import Plain

State: TypeAlias = Literal["intended", "done", "removing"]


@dataclass(frozen=True, slots=True)
class Record:
    """What a journal knows of one effect.

    Attributes:
        key: the key of the effect.
        provider: its provider.
        kind: its kind.
        wanted: what was wanted last.
        state: `intended` from before the act until it is done, `removing` from before the removal until it is removed.
        outcome: what the provider made of it when it was done last; None where it never was.
        before: what was there by the last act that ended, where another one has begun; None for nothing.
        fingerprint: of its secrets; empty for none.
    """

    key: str
    provider: str
    kind: str
    wanted: Plain
    state: State
    outcome: Plain = None
    before: Plain = None
    fingerprint: str = ""

    @property
    def there(self) -> Plain:
        """What was there by the last act that ended; None for nothing, and where its removal has begun."""
        if self.state == "removing":
            return None
        return self.wanted if self.state == "done" else self.before

    def to_plain(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Self:
        """The record that `to_plain` gave."""
        return cls(**data)


class Journal(ABC):
    """A journal of the effects of one environment: its records, in the order in which they were first written.

    A journal is used by one run at a time. It must not return from `write` and `forget` before what they do is durable.
    """

    @abstractmethod
    def records(self) -> Sequence[Record]:
        """All records, in the order in which their keys were written first."""

    @abstractmethod
    def write(self, record: Record) -> None:
        """Writes a record; one with its key is replaced and keeps its place, else it is the last."""

    @abstractmethod
    def forget(self, key: str) -> None:
        """Removes the record with a key; nothing where there is none."""

    def intend(self, effect: Effect, fingerprint: str, now: Record | None) -> Record:
        """Writes down that an effect is about to be carried out.

        Args:
            effect: the effect.
            fingerprint: of its secrets.
            now: the record that there is of it.
        """
        found = Record(
            effect.key,
            effect.provider,
            effect.kind,
            effect.wanted,
            "intended",
            None if now is None else now.outcome,
            None if now is None else now.there,
            fingerprint,
        )
        self.write(found)
        return found

    def done(self, record: Record, outcome: Plain) -> Record:
        """Writes down how an effect came out."""
        found = replace(record, state="done", outcome=outcome, before=None)
        self.write(found)
        return found

    def removing(self, record: Record) -> Record:
        """Writes down that what an effect made is about to be removed."""
        found = replace(record, state="removing")
        self.write(found)
        return found


class MemoryJournal(Journal):
    """A journal that lasts as long as it is referred to."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._records = {each.key: each for each in records}

    def records(self) -> Sequence[Record]:
        return tuple(self._records.values())

    def write(self, record: Record) -> None:
        self._records[record.key] = record

    def forget(self, key: str) -> None:
        self._records.pop(key, None)
