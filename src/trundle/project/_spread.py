"""What patterns in configured changes were written out to, and which of them have no effect."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from trundle.errors import Finding, listed
from trundle.evolution import PathError, TypeChanges, join_path, split_path
from trundle.project.findings import Misfit, ProjectCode, finding

RuleKey: TypeAlias = tuple[str, ...]
"""A rule as a `Misfit` names it: version, type, rule and property."""


class Pattern(NamedTuple):
    """A rule that has a pattern, as it is written in the file.

    Attributes:
        version: the version that it is under.
        type: the name or pattern of types.
        rule: the rule.
        property: the name or pattern of properties.
        where: file and line.
    """

    version: str
    type: str
    rule: str
    property: str
    where: str


class Spread(NamedTuple):
    """Configured changes with every pattern written out.

    Attributes:
        changes: the changes, without patterns.
        misfits: the patterns that stand for nothing or contradict each other.
        written: for each rule that was written out, the pattern that stands for it.
        idle: the rules that were not written out, because no newer version has what they name.
        taken: version, type and name of each property that a rule of an object around it moves.
    """

    changes: tuple[TypeChanges, ...]
    misfits: tuple[Misfit, ...]
    written: Mapping[RuleKey, Pattern]
    idle: Mapping[RuleKey, Pattern]
    taken: Collection[tuple[str, str, str]]

    def judged(self, misfits: Iterable[Misfit]) -> tuple[tuple[Misfit, ...], tuple[Finding, ...]]:
        """Separates what is wrong from what a pattern stands for without effect, while it has one elsewhere.

        Args:
            misfits: what does not fit of the changes.

        Returns:
            What is wrong, by the pattern where there is one: it may fit another group of the project. And a note for each pattern that has no effect somewhere.
        """
        found = tuple(misfits)
        unfit = {each.rule for each in found}
        fitting = {pattern for rule, pattern in self.written.items() if rule not in unfit}
        idle = {rule: self.written[rule] for rule in unfit if self.written.get(rule) in fitting}
        wrong = tuple(self._by_pattern(each) for each in found if each.rule not in idle)
        staying = {each.rule for each in found if each.stays}
        noted = {
            rule: pattern
            for rule, pattern in {**self.idle, **idle}.items()
            if rule not in staying and (rule[0], rule[1], rule[3]) not in self.taken
        }
        return wrong, tuple(_notes(noted))

    def _by_pattern(self, misfit: Misfit) -> Misfit:
        pattern = self.written.get(misfit.rule)
        if pattern is None:
            return misfit
        rule = pattern.version, pattern.type, pattern.rule, pattern.property
        return msgspec.structs.replace(misfit, rule=rule)


def _notes(idle: Mapping[RuleKey, Pattern]) -> Iterable[Finding]:
    names: dict[Pattern, list[str]] = {}
    for (_, type_name, _, name), pattern in sorted(idle.items()):
        names.setdefault(pattern, []).append(join_path((type_name, *parts_of(name))))
    for pattern, found in names.items():
        what = (
            f"`{pattern.rule}` of {pattern.property} does nothing for {listed(found)} of {pattern.version}: "
            "no newer version has what the pattern makes of it"
        )
        advice = "write a rule of its own where it became something else"
        yield finding(ProjectCode.UNUSED, pattern.where, what, advice, severity="note")


def parts_of(name: str) -> tuple[str, ...]:
    """A property's name or path as parts; a name that is no path is one part."""
    try:
        return split_path(name)
    except PathError:
        return (name,)
