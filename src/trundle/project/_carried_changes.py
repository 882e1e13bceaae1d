"""What the rules of a release say of the changes in its classes: what objects carry on, and which rules are not as they were."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.errors import listed
from trundle.packages import RULES_FILE, ChangeCode, Level, Package, ReleaseChange, judged
from trundle.project._release_rules import (
    ReleaseRules,
    read_release_rules,
)
from trundle.project.errors import ConfigError
from trundle.version import ApiVersion

_HOOK = "hook"
_MOST = 40
"""How many characters of a rule are shown."""

_Key: TypeAlias = tuple[ApiVersion, str, str]
"""The older version, the class, and what of it the rules are about."""

_Entries: TypeAlias = Mapping[_Key, Mapping[str, Any]]


def with_rules(
    changes: Iterable[ReleaseChange], before: Package, now: Package
) -> Iterator[ReleaseChange]:
    """The changes from one release to the next, with what `evolution.yaml` says of them.

    A rule makes no change a smaller one: it carries objects on, not the code of those who use the classes.

    Args:
        changes: the changes.
        before: the earlier release.
        now: the later one.
    """
    try:
        ours, theirs = (read_release_rules(each) for each in (before, now))
    except ConfigError:  # `check` says what is wrong with it.
        yield from changes
        return
    step = _Step(theirs, ApiVersion.of_package(before.version))
    found = [*step.rows(), *_altered(_entries(ours), _entries(theirs))]
    for each in changes:
        if not (found and each.place == RULES_FILE and each.code is ChangeCode.FILES):
            yield step.completed(each)
    yield from found


class _Step:
    """The rules that lead from the earlier release to the later one."""

    def __init__(self, rules: ReleaseRules, base: ApiVersion) -> None:
        self._base = base
        self._changes = [each for each in rules.changes if each.version == base]
        self._entries = {key: said for key, said in _entries(rules).items() if key[0] == base}
        self._to: dict[str, str] = {}
        self._from: dict[str, str] = {}
        for each in self._changes:
            newer = each.rename_type or each.type
            if each.rename_type:
                self._to[each.type], self._from[newer] = newer, each.type
            for _, one, other in each.placed():
                self._to[f"{each.type}.{one}"] = other
                self._from[f"{newer}.{other}"] = one

    def completed(self, change: ReleaseChange) -> ReleaseChange:
        """A change with where values go to or come from."""
        said = ""
        if change.code in (ChangeCode.PROPERTY_REMOVED, ChangeCode.CLASS_REMOVED):
            to = self._to.get(change.place)
            said = f"; objects carry it on as {to}" if to else ""
        elif change.code in (ChangeCode.PROPERTY_ADDED, ChangeCode.CLASS_ADDED):
            source = self._from.get(change.place)
            said = f"; objects of {self._base} bring {source}" if source else ""
        return msgspec.structs.replace(change, text=change.text + said) if said else change

    def rows(self) -> Iterator[ReleaseChange]:
        """The rules, each as a change."""
        for (_, name, about), rules in sorted(self._entries.items()):
            place = f"{name}.{about}" if about else name
            for rule in sorted(rules):
                said = f"the rule `{_shown({rule: rules[rule]})}`"
                if rule == _HOOK:
                    said = f"the hook {rules[rule]}"
                text = f"objects of {self._base} convert by {said}"
                yield ReleaseChange(place, ChangeCode.RULE_ADDED, text, Level.PATCH)


def _altered(ours: _Entries, theirs: _Entries) -> Iterator[ReleaseChange]:
    """What rules say that lead from one version in both releases, where that is not the same."""
    versions = {key[0] for key in ours} & {key[0] for key in theirs}
    for key in sorted(ours.keys() | theirs.keys()):
        old, new = ours.get(key, {}), theirs.get(key, {})
        if old != new and key[0] in versions:
            version, name, about = key
            place = f"{name}.{about} in {version}" if about else f"{name} in {version}"
            was, is_ = (f"`{_shown(each)}`" if each else "nothing" for each in (old, new))
            text = f"its rules say {is_} and said {was}; look at what becomes of values"
            yield judged(ChangeCode.RULE_CHANGED, place, text)


def _entries(rules: ReleaseRules) -> dict[_Key, dict[str, Any]]:
    """All that rules and hooks say."""
    found: dict[_Key, dict[str, Any]] = {}
    for each in rules.changes:
        key = each.version, each.type
        if each.rename_type:
            found.setdefault((*key, ""), {})["renameType"] = each.rename_type
        for rule, name, newer in each.named():
            said = getattr(each, rule)
            value = said[name] if isinstance(said, Mapping) else None
            found.setdefault((*key, name), {})[rule] = newer or msgspec.to_builtins(value)
    for hook in rules.hooks:
        said = f"{hook.use}, writes {listed(hook.writes)}" if hook.writes else hook.use
        found.setdefault((hook.version, hook.type, hook.name), {})[_HOOK] = said
    return found


def _shown(rules: Mapping[str, Any]) -> str:
    texts = [
        rule
        if value is None
        else f"{rule}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for rule, value in sorted(rules.items())
    ]
    text = ", ".join(texts)
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."
