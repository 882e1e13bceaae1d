"""The page Versions: maps, schemas, change tables and histories of resource types."""

from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._definitions import shown_definitions
from trundle.dashboard._frame import Frame, address
from trundle.dashboard._shown import Shown
from trundle.evolution import Evolution, ResourceLineage
from trundle.report import (
    Comparison,
    Explanation,
    MappedVersion,
    ReportError,
    change_text,
    compare,
    explain,
    find_resource,
)
from trundle.version import ApiVersion

_KEPT = 64
"""How many comparisons and explanations are kept."""

_PAIR = 2
_AT_ONCE = 60
"""How many resource types the list shows without being asked for more."""


class Versions:
    """Answers what is asked about versions.

    Args:
        shown: the projects.
        frame: makes pages.
    """

    def __init__(self, shown: Shown, frame: Frame) -> None:
        self._shown = shown
        self._frame = frame
        self._compare = lru_cache(_KEPT)(_compared)
        self._explain = lru_cache(_KEPT)(_explained)

    def prepare(self) -> None:
        """Computes what the first request of each page would wait for, as far as all resource types share it."""
        self._shown.matches("\0")  # It is in no name, so all places are searched.
        for evolution, resource in self._shown.each_first():
            older, newer = resource.versions.versions[0], resource.versions.versions[-1]
            if older != newer:
                self._compare(evolution, older, newer, resource.name)

    def listed(self, request: Request) -> Response:
        """The resource types, or those that a search finds."""
        word = request.query_params.get("q", "").strip()
        found = self._shown.matches(word)
        everything = "all" in request.query_params
        values = {
            "word": word,
            "matches": found if everything else found[:_AT_ONCE],
            "number": len(found),
            "rest": address("/ui/versions", q=word or None, all="1"),
        }
        return self._frame.shown(request, "versions.html", values)

    def type(self, request: Request) -> Response:
        """A resource type: its map, and beside it the schema of the chosen version or what changed between the two that are chosen."""
        of, name = _asked(request)
        project, resource = self._shown.find(of, name)
        chosen = _chosen(request, resource)
        drawn = project.map_of(resource.name)
        values = {
            "of": of,
            "drawn": drawn,
            "resource": resource,
            "chosen": chosen,
            "words": _words,
            "toggled": {
                each.version: _toggled(of, resource.name, chosen, each.version)
                for each in drawn.versions
            },
        }
        if len(chosen) == 1:
            schema = project.evolution.schema(chosen[0])
            root = resource.resources[chosen[0]].root
            values["definitions"] = shown_definitions(schema, root)
        elif chosen:
            older, newer = chosen
            values["compared"] = self._compare(project.evolution, older, newer, resource.name)
            values["change_text"] = change_text
        return self._frame.shown(request, "type.html", values)

    def property(self, request: Request) -> Response:
        """The history of a property, or of a type."""
        of, name = _asked(request)
        project, resource = self._shown.find(of, name)
        question = request.query_params.get("name", "")
        found = self._explain(project.evolution, question, resource.name)
        values = {
            "of": of,
            "resource": resource,
            "question": question,
            "lives": found.properties,
            "types": found.types,
            "enums": found.enums,
            "change_text": change_text,
        }
        return self._frame.shown(request, "property.html", values)


def _asked(request: Request) -> tuple[str, str]:
    """The project and the resource type that an address names."""
    return request.query_params.get("of", ""), request.query_params.get("type", "")


def _chosen(request: Request, resource: ResourceLineage) -> tuple[ApiVersion, ...]:
    """The versions that an address chooses, in ascending order; two at most.

    Raises:
        VersionError: a text is no version.
        ReportError: the resource type has no such version.
    """
    known = {each: each for each in resource.versions.versions}
    given = [ApiVersion.parse(each) for each in request.query_params.getlist("v")]
    for each in given:
        if each not in known:
            raise ReportError("version", str(each), map(str, known), resource.name)
    return tuple(sorted({known[each] for each in given[-_PAIR:]}))


def _toggled(of: str, name: str, chosen: tuple[ApiVersion, ...], version: ApiVersion) -> str:
    """The address after a click on a version: it is chosen beside another one, or no longer."""
    if version in chosen:
        after = [each for each in chosen if each != version]
    else:
        after = [version] if len(chosen) == _PAIR else [*chosen, version]
    return address("/ui/versions/type", of=of, type=name, v=[str(each) for each in after])


def _compared(
    evolution: Evolution, older: ApiVersion, newer: ApiVersion, resource: str
) -> Comparison:
    return compare(evolution, older, newer, resource=find_resource(evolution, resource))


def _explained(evolution: Evolution, question: str, resource: str) -> Explanation:
    return explain(evolution, question, resource=find_resource(evolution, resource))


def _words(mapped: MappedVersion) -> list[str]:
    """What the map says of a version."""
    words = {
        "hub": mapped.hub,
        "stored": mapped.stored and not mapped.hub,
        "preview": mapped.version.preview,
        "not served": not mapped.served,
        "deprecated": bool(mapped.deprecated),
    }
    return [word for word, holds in words.items() if holds]
