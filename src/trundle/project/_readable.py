"""Checks whether objects that a release stored can still be read, and what prevents it."""

from collections.abc import Iterator

import msgspec

from trundle.errors import Finding, listed
from trundle.evolution import Evolution, Lineage, NamedConversion, Place, ResourceLineage
from trundle.evolution.conversions import EnumText, exact, relate
from trundle.project._recorded_types import recorded_type, spoken_type
from trundle.project._stored import StoredRelease, StoredType, reached, stored_type
from trundle.project.findings import ProjectCode, finding
from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.version import ApiVersion

_LOST = "restore it, or give up the stored objects with `trundle lock --accept`"
_RELIED_ON = ("values", "wrap", "unwrap", "move", "convert", "variant")


def objections(
    evolution: Evolution,
    name: str,
    version: str,
    release: StoredRelease,
    where: str,
    *,
    called: str = "",
) -> Iterator[Finding]:
    """Everything that makes the stored objects of a release unreadable.

    Args:
        evolution: how the schemas evolve now.
        name: the resource type.
        version: the storage version.
        release: what was recorded of it.
        where: the lock file, for messages.
        called: what the lock calls the resource type, where that is not its name.
    """
    called = called or name
    stored = f"objects of {called} that were stored in {version}"
    resource = next(
        (each for each in evolution.resources if each.name.casefold() == name.casefold()), None
    )
    found = None if resource is None else _version(resource, version)
    if resource is None or found is None:
        missing = called if resource is None else f"{called} in {version}"
        yield _finding(where, f"{stored} are unreadable: no schema has {missing} any more", _LOST)
        return
    group = resource.resources[found].group
    if release.group and release.group.casefold() != group.casefold():
        now = f"is now {group}" if group else "is gone"
        what = f"{stored} are unreadable: they name the API group {release.group}, which {now}"
        yield _finding(where, what, _LOST)
    reading = _Reading(release, found, stored, where)
    yield from reading.findings(resource.root)
    yield from reading.renames(resource.root)
    yield from _rules(evolution, release, stored, where)
    yield from _hooks(evolution, release, stored, where)


def _finding(where: str, what: str, advice: str) -> Finding:
    return finding(ProjectCode.LOCK, where, what, advice)


def _version(resource: ResourceLineage, text: str) -> ApiVersion | None:
    return next((each for each in resource.resources if each.text == text), None)


class _Reading:
    """Compares the recorded types of a release with the types of today, from the root inwards."""

    def __init__(
        self, release: StoredRelease, version: ApiVersion, stored: str, where: str
    ) -> None:
        self.release = release
        self.version = version
        self.stored = stored
        self.where = where
        self._seen: set[tuple[Lineage, str]] = set()
        self._parted: set[tuple[Lineage, Place]] = set()
        self._waiting: list[tuple[Lineage, str]] = []

    def findings(self, root: Lineage) -> Iterator[Finding]:
        self._waiting.append((root, self.release.root))
        while self._waiting:
            pair = self._waiting.pop(0)
            if pair in self._seen:
                continue
            self._seen.add(pair)
            lineage, name = pair
            recorded = self.release.types.get(name, StoredType())
            version = _lineage_version(lineage, recorded.version or self.version.text)
            if version is not None:
                yield from self._of_type(lineage, version, recorded)

    def _of_type(
        self, lineage: Lineage, version: ApiVersion, recorded: StoredType
    ) -> Iterator[Finding]:
        type_name = lineage.definition(version).name
        for name, plain in recorded.properties.items():
            yield from self._of_place(lineage, version, name, recorded_type(plain), type_name)
            if name in lineage.names(version):
                yield from self._of_thread(lineage, Place(version, name), recorded)
        for entry, plain in recorded.bag.items():
            name, _, at = entry.rpartition("@")
            kept = _lineage_version(lineage, at)
            if kept is None:
                what = f"hold {type_name}.{name} in the shape of {at}, which no schema has any more"
                yield _finding(self.where, f"{self.stored} {what}", _LOST)
                continue
            yield from self._of_place(lineage, kept, name, recorded_type(plain), type_name)
            if name in lineage.followed(kept):
                yield from self._of_entry(lineage, version, Place(kept, name))
            elif Place(kept, name) in lineage.given:
                what = f"hold {type_name}.{name} of {at} in the property bag of {type_name}"
                moved = "which a rule about its path now looks for in the object around it"
                advice = (
                    "remove the rule; or, if no stored object has such an entry, accept it with "
                    "`trundle lock --accept`: what such entries hold is kept, but not shown any more"
                )
                yield _finding(self.where, f"{self.stored} {what}, {moved}", advice)

    def _of_entry(self, lineage: Lineage, version: ApiVersion, entry: Place) -> Iterator[Finding]:
        """An entry of the bag that nothing asks for any more."""
        thread = lineage.thread(entry)
        versions = lineage.versions
        hubs = [version, *versions.storage, *lineage.evolution.said_stored]
        if thread.at(version) is None and entry in {
            thread.home(hub) for hub in hubs if thread.at(hub) is None
        }:
            return
        own = thread.at(version)
        if own is not None and own.property in lineage.lifted(version):
            return  # it was derived from there before, too
        type_name = lineage.definition(version).name
        what = f"hold {type_name}.{entry.property} of {entry.version} in the property bag"
        if own is None:
            home = thread.home(version)
            what += f", where it is now looked for as {home.property} of {home.version}"
        else:
            what += f"; now it would be read from {own.property} of {version} instead"
        advice = "undo what joins them, or accept it with `trundle lock --accept`"
        yield _finding(self.where, f"{self.stored} {what}", advice)

    def _of_place(
        self, lineage: Lineage, version: ApiVersion, name: str, recorded: Type, type_name: str
    ) -> Iterator[Finding]:
        """A property that is gone, or whose values no longer fit."""
        place = Place(version, name)
        if name not in lineage.followed(version) and place not in lineage.given:
            what = f"have {type_name}.{name} ({spoken_type(recorded)}), which {version} does not have any more"
            yield _finding(self.where, f"{self.stored} {what}", _LOST)
            return
        if not self._reads(lineage, place, recorded, stored_type(lineage, place)):
            shape = spoken_type(recorded)
            what = f"have {type_name}.{name} as {shape}, which {version} now has as another type"
            yield _finding(self.where, f"{self.stored} {what}", _LOST)

    def _reads(self, lineage: Lineage, place: Place, recorded: Type, now: Type) -> bool:
        """Whether a type of today admits every value of a recorded type."""
        match recorded, now:
            case (_, FreeForm()):
                return True
            case (Nullable(inner), _):
                return isinstance(now, Nullable) and self._reads(lineage, place, inner, now.inner)
            case (_, Nullable(inner)):
                return self._reads(lineage, place, recorded, inner)
            case (Union(variants), _):
                return all(self._reads(lineage, place, each, now) for each in variants)
            case (_, Union(variants)):
                same = [
                    each for each in variants if self._same_name(lineage, place, recorded, each)
                ]
                return any(
                    self._reads(lineage, place, recorded, each) for each in (same or variants)
                )
            case (ListOf(one), ListOf(other)) | (MapOf(one), MapOf(other)):
                return self._reads(lineage, place, one, other)
            case (Scalar(), _):
                return _converts(recorded, now, _schema(lineage, place))
            case (Ref(name), Ref(key)):
                if not isinstance(_schema(lineage, place).definitions[key], ObjectType):
                    return False
                self._waiting.append((lineage.child(place, key), name))
                return True
        return False

    @staticmethod
    def _same_name(lineage: Lineage, place: Place, recorded: Type, variant: Type) -> bool:
        if not isinstance(variant, Ref) or not isinstance(recorded, Ref):
            return False
        definition = _schema(lineage, place).definitions[variant.key]
        plain = recorded.key.partition("@")[0].partition("(")[0]
        return isinstance(definition, ObjectType) and plain == variant.key

    def _of_thread(self, lineage: Lineage, place: Place, recorded: StoredType) -> Iterator[Finding]:
        """A property that no longer is the one of another version that it was."""
        name, found = place.property, False
        renamed = recorded.renamed.get(name, {})
        for version in lineage.nodes:
            at = version.text
            if at not in (recorded.versions or self.release.versions) or at in recorded.apart.get(
                name, ()
            ):
                continue
            other = renamed.get(at, name)
            if other not in lineage.names(version) or version == place.version:
                continue
            if not _same(lineage, place, Place(version, other)):
                self._parted.update([(lineage, place), (lineage, Place(version, other))])
                if found:
                    continue
                found = True
                type_name = lineage.definition(place.version).name
                what = (
                    f"have {type_name}.{name}, which was {other} of {at} when it was released; "
                    "now the two are different properties"
                )
                yield _finding(
                    self.where, f"{self.stored} {what}", _advice(name, other, place, version)
                )

    def renames(self, root: Lineage) -> Iterator[Finding]:
        """Recorded renames that join nothing any more: of what has another type on the other side, or is in bags on both."""
        for lineage in reached(root):
            for version in lineage.nodes:
                type_name = lineage.definition(version).name
                rules = self.release.changes.get(version.text, {}).get(type_name, {})
                for name, newer in dict(rules.get("rename", {})).items():
                    place = Place(version, name)
                    if name not in lineage.names(version) or (lineage, place) in self._parted:
                        continue
                    later = self._later_names(version, type_name, newer)
                    there = {
                        each for v in lineage.nodes if v > version for each in lineage.names(v)
                    }
                    if later.isdisjoint(there):
                        continue
                    if not any(each.property in later for each in lineage.met(place)):
                        what = f"rely on `rename` of {type_name}.{name} to {newer} under {version}, which is gone"
                        yield _finding(self.where, f"{self.stored} {what}", _LOST)

    def _later_names(self, version: ApiVersion, type_name: str, name: str) -> set[str]:
        """What a property was called from a version on: the one where it had its next name may be gone."""
        found = {name}
        changes = {ApiVersion.parse(text): types for text, types in self.release.changes.items()}
        for each in sorted(each for each in changes if each >= version):
            rules = changes[each].get(type_name, {})
            if each > version:
                name = rules.get("rename", {}).get(name, name)
            type_name = rules.get("renameType", type_name)
            found.add(name)
        return found


def _same(lineage: Lineage, one: Place, other: Place) -> bool:
    """Whether two places are one property, whose enums may spell its texts in their own ways."""
    if lineage.thread(one) is lineage.thread(other):
        return True
    number = lineage.respelled.get(one)
    return number is not None and lineage.respelled.get(other) == number


def _advice(name: str, other: str, place: Place, version: ApiVersion) -> str:
    if name == other:
        return "restore the rule that joined them, or remove the one that parts them"
    (older, first), (newer, second) = sorted([(place.version, name), (version, other)])
    return (
        f"restore `rename: {{{first}: {second}}}` between {older} and {newer}, "
        "or accept it with `trundle lock --accept`"
    )


def _schema(lineage: Lineage, place: Place) -> Schema:
    return lineage.evolution.schema(place.version)


def _lineage_version(lineage: Lineage, text: str) -> ApiVersion | None:
    return next((each for each in lineage.nodes if each.text == text), None)


def _converts(recorded: Scalar, now: Type, schema: Schema) -> bool:
    """Whether conversions carry every recorded value; an enum carries texts that it does not know."""
    found = relate(recorded, now, (schema, schema), lambda _one, _other: False)
    return isinstance(found, EnumText) or (found is not None and exact(found, up=True))


def _rules(
    evolution: Evolution, release: StoredRelease, stored: str, where: str
) -> Iterator[Finding]:
    """Recorded rules that are gone; those that join properties are found by their threads."""
    for version in evolution.versions.versions:
        for type_name, rules in release.changes.get(version.text, {}).items():
            now = evolution.changes(version, type_name)
            for rule in _RELIED_ON:
                for name, value in dict(rules.get(rule, {})).items():
                    current = {} if now is None else getattr(now, rule)
                    if name in current and _is_as_recorded(current[name], value):
                        continue
                    found = "has changed" if name in current else "is gone"
                    what = f"rely on `{rule}` of {type_name}.{name} under {version}, which {found}"
                    yield _finding(where, f"{stored} {what}", _LOST)


def _is_as_recorded(current: object, recorded: object) -> bool:
    """Whether a rule is the one of the lock, which has a conversion with what it has to know as an object."""
    if isinstance(current, NamedConversion) and isinstance(recorded, dict):
        return _said(msgspec.to_builtins(current)) == _said(recorded)
    return current == recorded


def _said(written: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in written.items() if value}


def _hooks(
    evolution: Evolution, release: StoredRelease, stored: str, where: str
) -> Iterator[Finding]:
    known = {version.text for version in evolution.versions.versions}
    methods: dict[tuple[str, str, str], set[str]] = {}
    for each in evolution.hooks:
        reference = each.reference
        key = (reference.type, reference.older.text, reference.newer.text)
        methods.setdefault(key, set()).update((*each.assign, *each.converters))
    for hook in release.hooks:
        if not set(hook.between) <= known:
            continue
        wanted = {*hook.assign, *hook.converters}
        missing = wanted - methods.get((hook.type, hook.between[0], hook.between[-1]), set())
        if not missing:
            continue
        older, newer = hook.between
        whole = missing == wanted
        gone = f"the hook {hook.use}" if whole else f"{listed(missing)} of the hook {hook.use}"
        what = f"rely on {gone} of {hook.type} between {older} and {newer}, which is gone"
        yield _finding(where, f"{stored} {what}", _LOST)
