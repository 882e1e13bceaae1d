"""The effects of one run: compared with the journal, carried out, and at last cleaned up."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.effects._effect import Effect
from trundle.engine.effects._journal import Journal, MemoryJournal, Record
from trundle.engine.effects._plain import Plain, as_plain, plain_text
from trundle.engine.effects._provider import Provider
from trundle.engine.effects._secrets import Fingerprints, hidden, secrets_in
from trundle.errors import Kind, TrundleError, expectation, listed, similar


@dataclass(frozen=True, slots=True)
class EffectChange:
    """What a run does, or would do, about one effect.

    Attributes:
        action: `create`, `change`, `unchanged` or `remove`.
        key: the effect.
        provider: the name of its provider.
        diff: what changes, as a unified diff of what was and what is wanted; empty where nothing does. It has markers in place of secrets.
    """

    action: Literal["create", "change", "unchanged", "remove"]
    key: str
    provider: str
    diff: str

    def to_plain(self) -> dict[str, Any]:
        """The change as plain values."""
        return {"action": self.action, "key": self.key, "diff": self.diff}


_REACH = "give the engine one; `trundle env deploy` takes --folder and --programs, an environment over HTTP a place, and tests replace methods with `inject`"


class Effects:
    """The effects of one run.

    Attributes:
        changes: what was done, or in a dry run would be, in its order.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider] | None = None,
        journal: Journal | None = None,
        secrets: Mapping[str, str] | None = None,
        *,
        dry_run: bool = False,
    ) -> None:
        self.changes: list[EffectChange] = []
        self._providers = providers or {}
        self._journal = journal or MemoryJournal()
        self._secrets = dict(secrets or {})
        self._fingerprints = Fingerprints(self._secrets)
        self._is_dry = dry_run
        self._records: dict[str, Record] | None = None
        self._wanted: dict[str, tuple[str, Plain]] = {}

    def hidden(self, text: str) -> str:
        """A text with markers in place of secrets."""
        return str(hidden(text, self._secrets))

    def want(self, kind: str, wanted: Plain, provider: str | None = None) -> Plain:
        """Sees to it that something is there; nothing happens where it is already, by what the journal says.

        Args:
            kind: what kind of thing it is.
            wanted: what shall be there; plain data, with markers in place of secrets.
            provider: the name of the provider; the first one that takes the kind where None.

        Returns:
            The outcome; in a dry run, what is known of it before the act.

        Raises:
            EngineError: with the code `effect`: there is no such provider, it refuses or fails, or this run wanted something else at the
                same place before.
        """
        effect = self._effect(kind, wanted, provider)
        text = plain_text(effect.wanted)
        if effect.key in self._wanted and self._wanted[effect.key] != (kind, text):
            raise _error(
                f"{effect.key}: {expectation('one thing that a run wants there', 'two that differ')}",
                "give them different names, or delete the first one before",
            )
        is_first = effect.key not in self._wanted
        self._wanted[effect.key] = (kind, text)
        now, mark = self._known().get(effect.key), self._fingerprints.of(effect.key, effect.secrets)
        if now is not None and _is_there(now, effect, mark):
            if is_first:
                self._note("unchanged", effect, None)
            return as_plain(now.outcome)
        with self._acting(effect.key):
            self._providers[effect.provider].check(effect, now)
        is_new = now is None or now.there is None
        self._note("create" if is_new else "change", effect, now)
        if self._is_dry:
            return self._foresee(effect, mark)
        return self._apply(effect, mark, now)

    def drop(self, kind: str, wanted: Plain, provider: str | None = None) -> bool:
        """Removes at once what an effect made; nothing happens where the journal has nothing of it.

        Args:
            kind: what kind of thing it is.
            wanted: what says where it is.
            provider: the name of the provider; the first one that takes the kind where None.

        Returns:
            Whether there was anything of it.

        Raises:
            EngineError: with the code `effect`: there is no such provider, or it fails.
        """
        key = self._effect(kind, wanted, provider).key
        self._wanted.pop(key, None)
        record = self._known().get(key)
        if record is None:
            return False
        self._remove(record)
        return True

    def settle(self) -> None:
        """Removes what this run did not want, in the reverse order in which it was first made. For a run that has succeeded.

        Raises:
            EngineError: with the code `effect`: a provider is gone, then nothing is removed; or one fails, then the others wait until the next time.
        """
        unwanted = [each for key, each in self._known().items() if key not in self._wanted]
        for each in unwanted:
            self._provider(each.provider, each.kind)
        for each in reversed(unwanted):
            self._remove(each)

    def _foresee(self, effect: Effect, mark: str) -> Plain:
        with self._acting(effect.key):
            outcome = as_plain(self._providers[effect.provider].foresee(effect))
        self._known()[effect.key] = Record(
            effect.key, effect.provider, effect.kind, effect.wanted, "done", outcome, None, mark
        )
        return outcome

    def _apply(self, effect: Effect, mark: str, now: Record | None) -> Plain:
        provider, key = self._providers[effect.provider], effect.key
        intended = self._known()[key] = self._journal.intend(effect, mark, now)
        with self._acting(key):
            outcome = provider.apply(effect, now)
            outcome = hidden(as_plain(outcome), self._secrets)
        self._known()[key] = self._journal.done(intended, outcome)
        return as_plain(outcome)

    def _remove(self, record: Record) -> None:
        names = secrets_in(record.wanted)
        secrets = {name: text for name, text in self._secrets.items() if name in names}
        effect = Effect(record.provider, record.kind, record.key, record.wanted, secrets)
        provider = self._provider(record.provider, record.kind)
        self._note("remove", effect, record)
        if not self._is_dry:
            self._known()[record.key] = self._journal.removing(record)
            with self._acting(record.key):
                provider.remove(effect, as_plain(record.outcome))
            self._journal.forget(record.key)
        del self._known()[record.key]

    def _effect(self, kind: str, wanted: Plain, provider: str | None) -> Effect:
        name = self._chosen(kind) if provider is None else provider
        found = self._provider(name, kind)
        with self._acting(f"{name}/{kind}"):
            plain = as_plain(wanted)
            key = f"{name}/{found.place(kind, plain)}"
        names = secrets_in(plain)
        unknown = sorted(names - self._secrets.keys())
        if unknown:
            near = similar(unknown[0], list(self._secrets))
            advice = "keep it with `trundle env secret`, or give it to the session"
            if near:
                advice = f"correct the name: {listed(near)}"
            raise _error(f"{key}: {expectation(f'the secret {unknown[0]}', 'none')}", advice)
        secrets = {each: self._secrets[each] for each in sorted(names)}
        effect = Effect(name, kind, key, plain, secrets)
        with self._acting(key):
            effect.revealed()  # Refused before it is written down, and in a dry run, too
        return effect

    def _chosen(self, kind: str) -> str:
        for name, each in self._providers.items():
            if kind in each.kinds:
                return name
        found = f"only {listed(self._providers)}" if self._providers else "no provider at all"
        message = expectation(f"a provider that takes effects of the kind {kind}", found)
        raise _error(message, _REACH)

    def _provider(self, name: str, kind: str) -> Provider:
        found = self._providers.get(name)
        if found is None:
            known = f"only {listed(self._providers)}" if self._providers else "no provider at all"
            raise _error(expectation(f"the provider {name}", known), _REACH)
        if kind not in found.kinds:
            takes = f"one for {listed(found.kinds)}"
            message = expectation(f"a provider for effects of the kind {kind} as {name}", takes)
            raise _error(message, "name another one")
        return found

    def _known(self) -> dict[str, Record]:
        """What the journal says, in its order; in a dry run, what it would say."""
        if self._records is None:
            self._records = {each.key: each for each in self._journal.records()}
        return self._records

    def _note(
        self,
        action: Literal["create", "change", "unchanged", "remove"],
        effect: Effect,
        now: Record | None,
    ) -> None:
        provider = self._providers[effect.provider]
        before = after = ""
        with self._acting(effect.key):
            if action == "change" and now is not None:
                before = provider.show(now.kind, now.there)
            if action == "remove":
                before = provider.show(effect.kind, effect.wanted)
            elif action != "unchanged":
                after = provider.show(effect.kind, effect.wanted)
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), effect.key, effect.key, lineterm=""
        )
        self.changes.append(
            EffectChange(
                action, effect.key, effect.provider, "".join(f"{each}\n" for each in lines)
            )
        )

    @contextlib.contextmanager
    def _acting(self, key: str) -> Iterator[None]:
        """Makes one error of whatever goes wrong in a provider, without secrets."""
        try:
            yield
        except EngineError:
            raise
        except Exception as error:
            text = str(error) or type(error).__name__
            message = hidden(f"{key}: {text}", self._secrets)
            found = _error(message, "")
            if isinstance(error, TrundleError):
                found.kind = error.kind
            if message == f"{key}: {text}":
                found.original = error
                raise found from error
            raise found from None


def _is_there(now: Record, effect: Effect, mark: str) -> bool:
    return (
        now.state == "done"
        and (now.provider, now.kind, now.fingerprint) == (effect.provider, effect.kind, mark)
        and plain_text(now.wanted) == plain_text(effect.wanted)
    )


def _error(message: str, advice: str) -> EngineError:
    error = EngineError(EngineCode.EFFECT, message, advice=advice)
    error.kind = Kind.FAILED
    return error
