"""Finds properties whose type changed, where no rule or hook says what becomes of their values."""

from collections.abc import Iterator

from trundle.errors import Finding
from trundle.evolution import Lineage, Link, Place
from trundle.project._write import spell_text
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.report import spell


def changes_of_type(project: Project) -> Iterator[Finding]:
    """Properties that changed their type, without a rule or hook that says what to make of it."""
    found: dict[tuple[str, Place, Place], Finding] = {}
    for lineage in project.lineages:
        for link in lineage.links:
            if link.conversion is None and not is_acknowledged(lineage, link):
                name = lineage.definition(link.older.version).name
                key = (name, link.older, link.newer)
                found.setdefault(key, _change_of_type(lineage, link, name))
    yield from (found[key] for key in sorted(found))


def is_acknowledged(lineage: Lineage, link: Link) -> bool:
    """Whether `keep` or a hook says what becomes of two places that meet without a conversion."""
    name = lineage.definition(link.older.version).name
    changes = lineage.evolution.changes(link.older.version, name)
    if changes is not None and link.older.property in changes.keep:
        return True
    places = {link.older, link.newer}
    return any(
        each.output in places or places & set(each.inputs)
        for each in lineage.hooks
        if {link.older.version, link.newer.version} == {each.output.version, each.inputs[0].version}
    )


def spelled(lineage: Lineage, link: Link) -> tuple[str, str]:
    """The types of two places that meet, in words that differ."""
    ours, theirs = (
        spell(lineage.type(place), lineage.evolution.schema(place.version))
        for place in (link.older, link.newer)
    )
    return (f"one {ours}", "another") if ours == theirs else (ours, theirs)


def _change_of_type(lineage: Lineage, link: Link, name: str) -> Finding:
    ours, theirs = spelled(lineage, link)
    older, newer = link.older, link.newer
    what = f"{name}.{newer.property} changes its type from {ours} in {older.version} to {theirs} in {newer.version}"
    rule = f"keep: [{spell_text(older.property)}]"
    advice = f"say what becomes of it by a rule or a hook, or `{rule}` under {older.version}"
    where = lineage.definition(newer.version).source
    return finding(ProjectCode.TYPE_CHANGE, where, what, advice)
