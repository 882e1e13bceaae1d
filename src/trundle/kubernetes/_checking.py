"""What the CRDs of a project would change about those of a file or a cluster, and whom that would break."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle.errors import Finding, Place, listed
from trundle.kubernetes._errors import KubernetesCode

_FIXED = ("group", "scope")
"""What a cluster lets no update change."""

_AT_LEAST = ("minimum", "minItems", "minLength", "minProperties")
_AT_MOST = ("maximum", "maxItems", "maxLength", "maxProperties")
_OTHER_RULES = ("allOf", "anyOf", "format", "multipleOf", "not", "oneOf", "pattern")
_CLOSED_LISTS = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations")
_EITHER = "x-kubernetes-int-or-string"
_BOTH = [{"type": "integer"}, {"type": "string"}]
_INSIDE = {"additionalProperties": ".*", "items": "[]"}
_EMBEDDED = "x-kubernetes-embedded-resource"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_SETS = ("enum", "required")
"""Keywords with lists whose order says nothing."""


def compared(
    installed: Mapping[str, dict[str, Any]], made: Iterable[dict[str, Any]], where: str
) -> list[Finding]:
    """What an update would change, the breaking changes as errors, the others as notes.

    Args:
        installed: the CRDs that are there, by name.
        made: those of the project.
        where: what the former stand in.
    """
    ours = {each["metadata"]["name"]: each for each in made}
    groups = {each["spec"]["group"] for each in ours.values()}
    found: list[Finding] = []
    for name, crd in ours.items():
        if name in installed:
            place = Place(where, object=name)
            found += _changes(installed[name]["spec"], crd["spec"], place)
            found += _stored(installed[name], crd["spec"], place)
        else:
            found.append(_missing(Place(where, object=name)))
    for name, crd in installed.items():
        if name not in ours and crd["spec"].get("group") in groups:
            expected = "a resource type of the project"
            advice = (
                "delete it when none of its objects is needed any more; `apply` leaves it as it is"
            )
            place = Place(where, object=name)
            found.append(
                _note(KubernetesCode.UNKNOWN, place, "a CRD without one", advice, expected)
            )
    return found


def _stored(
    installed: Mapping[str, Any], new: Mapping[str, Any], place: Place
) -> Iterator[Finding]:
    """The versions that an update may not remove, since objects may be stored at them."""
    kept = {each["name"] for each in new["versions"]}
    for name in (installed.get("status") or {}).get("storedVersions") or ():
        if name not in kept:
            expected = f"the version {name}, at which objects may be stored"
            advice = "a cluster refuses this update: have all objects rewritten first, by `trundle kube adopt` where another project made the CRD, else by `trundle kube migrate`"
            yield _breaks(place, expected, "none", advice)


def _missing(place: Place) -> Finding:
    return _note(
        KubernetesCode.MISSING, place, "no such CRD", "apply the CRDs of the project", "a CRD"
    )


def _note(
    code: KubernetesCode, place: Place, found: str, advice: str = "", expected: str = ""
) -> Finding:
    return Finding(code, place, expected, found, advice, "note")


def _breaks(place: Place, expected: str, found: str, advice: str) -> Finding:
    return Finding(KubernetesCode.BREAKS, place, expected, found, advice)


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    """What an update changes about one CRD."""
    for key in _FIXED:
        if old.get(key) != new[key]:
            advice = (
                "a cluster refuses this update: name the resource type as it was, or make a new one"
            )
            yield _breaks(place, f"the {key} {old.get(key)}", str(new[key]), advice)
    before = {each["name"]: each for each in old.get("versions", ())}
    after = {each["name"]: each for each in new["versions"]}
    for name, version in before.items():
        yield from _version_changes(name, version, after.get(name), place)
    for name in after:
        if name not in before:
            yield _note(KubernetesCode.CHANGED, place, f"an update adds the version {name}")
    if _all_names(old.get("names")) != _all_names(new["names"]):
        yield _note(KubernetesCode.CHANGED, place, "an update changes `names`")
    if old.get("conversion") != new["conversion"]:
        yield _note(KubernetesCode.CHANGED, place, "an update changes `conversion`")


def _all_names(names: Mapping[str, Any] | None) -> dict[str, Any]:
    """The names of a resource type, with those that an API server makes of the kind where they are not said."""
    said = {key: value for key, value in (names or {}).items() if value}
    kind = said.get("kind", "")
    return {"singular": kind.lower(), "listKind": f"{kind}List", **said}


def _version_changes(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any] | None, place: Place
) -> Iterator[Finding]:
    if old.get("storage") and (new is None or not new["storage"]):
        advice = f"rewrite them after the update, and then remove {name} from `status.storedVersions`; before that, no update may drop the version"
        yield _note(
            KubernetesCode.CHANGED, place, f"objects are stored at the version {name}", advice
        )
    if new is None:
        if old.get("served"):
            advice = "serve it for longer, or let all clients use another version first"
            yield _breaks(place, f"the version {name}, which is served", "none", advice)
        else:
            yield _note(KubernetesCode.CHANGED, place, f"an update removes the version {name}")
        return
    schemas = [(each.get("schema") or {}).get("openAPIV3Schema", {}) for each in (old, new)]
    breaking = False
    advice = "clients of this version break: make a new version instead"
    for path, what in _narrowed(schemas[0], schemas[1], ""):
        breaking = True
        at = Place(place.file, object=f"{place.object} {name}", path=path or ".")
        yield _breaks(at, "what clients of the version may write", what, advice)
    for each in old.get("subresources") or {}:
        if each not in (new.get("subresources") or {}):
            breaking = True
            at = Place(place.file, object=f"{place.object} {name}")
            yield _breaks(at, f"the subresource {each}, which clients may use", "none", advice)
    kept = _selectable(new)
    for path in _selectable(old):
        if path not in kept:
            breaking = True
            at = Place(place.file, object=f"{place.object} {name}", path=path)
            yield _breaks(at, "a field that clients may select by", "none", advice)
    changed = {*_differing(old, new)}
    if not breaking and changed:
        what = f"an update changes of the version {name}: {listed(changed)}"
        yield _note(KubernetesCode.CHANGED, place, what)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two forms of a version; where it is stored is said apart."""
    for key in sorted((old.keys() | new.keys()) - {"schema", "storage"}):
        before, after = (_said(key, each.get(key)) for each in (old, new))
        if before != after:
            yield key
    schemas = [(each.get("schema") or {}).get("openAPIV3Schema", {}) for each in (old, new)]
    yield from _differing_schema(schemas[0], schemas[1], "")


def _said(key: str, value: Any) -> Any:
    """What a version says under a key; None where it is what an API server takes where nothing is said."""
    if key == "additionalPrinterColumns" and len(value or ()) == 1:
        (column,) = value
        said = [column.get(each) or None for each in ("name", "type", "jsonPath", "priority")]
        if said == ["Age", "date", ".metadata.creationTimestamp", None]:
            return None
    return value or None


def _differing_schema(old: Any, new: Any, path: str) -> Iterator[str]:
    """What differs between two schemas: keywords with the places that they stand at."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new:
            yield f"the schema of {path or '.'}"
        return
    is_either = old.get(_EITHER) and new.get(_EITHER)
    for key in old.keys() | new.keys():
        before, after = old.get(key), new.get(key)
        if key == "anyOf" and is_either:  # Some write the two types beside it.
            before, after = (None if each == _BOTH else each for each in (before, after))
        if before == after:
            continue
        if key in _SETS and _as_set(before) == _as_set(after):
            continue
        if key == "description":
            yield "descriptions"
        elif key == "properties":
            before, after = before or {}, after or {}
            for name in before.keys() | after.keys():
                yield from _differing_schema(before.get(name), after.get(name), f"{path}.{name}")
        elif key in _INSIDE and before is not None and after is not None:
            yield from _differing_schema(before, after, path + _INSIDE[key])
        else:
            yield f"{key} of {path or '.'}"


def _as_set(value: Any) -> list[str]:
    return sorted({repr(each) for each in value or ()})


def _selectable(version: Mapping[str, Any]) -> list[str]:
    """The paths that clients of a version may select by."""
    return [each.get("jsonPath", "") for each in version.get("selectableFields") or ()]


def _narrowed(
    old: Mapping[str, Any], new: Mapping[str, Any], path: str
) -> Iterator[tuple[str, str]]:
    """What a schema does not admit, or does not keep, that an earlier one did: its place, and what it is."""
    if new.get(_PRESERVE) and "type" not in new and "properties" not in new:
        return
    if old.get("type") != new.get("type") and new.get("type") not in (
        None,
        _wider(old.get("type")),
    ):
        yield path, f"the type {new['type']} and no longer {old.get('type', 'any')}"
        return
    if old.get("nullable") and not new.get("nullable"):
        yield path, "no null any more"
    if "enum" in new:
        gone = [each for each in old.get("enum", ()) if each not in new["enum"]]
        if gone or "enum" not in old:
            yield path, f"only {', '.join(map(str, new['enum']))}"
    for keys, is_narrower in ((_AT_LEAST, _greater), (_AT_MOST, _less)):
        for key in keys:
            if key in new and (key not in old or is_narrower(new[key], old[key])):
                yield path, f"{key} {new[key]}"
    if new.get(_EMBEDDED) and not old.get(_EMBEDDED):
        yield path, "only whole resources, with apiVersion and kind"
    for key in (*_OTHER_RULES, *_CLOSED_LISTS):
        if key in new and new[key] != old.get(key):
            yield path, f"another `{key}`"
    yield from _narrowed_members(old, new, path)


def _narrowed_members(
    old: Mapping[str, Any], new: Mapping[str, Any], path: str
) -> Iterator[tuple[str, str]]:
    before, after = old.get("properties", {}), new.get("properties", {})
    values = new.get("additionalProperties")
    for name, schema in before.items():
        if name in after:
            yield from _narrowed(schema, after[name], f"{path}.{name}")
        elif not new.get(_PRESERVE) and not values:
            yield f"{path}.{name}", "no such property any more"
    required = set(new.get("required", ())) - set(old.get("required", ()))
    for name in sorted(required):
        if "default" not in after.get(name, {}):
            yield f"{path}.{name}", "a value, as it is required now"
    values_said = isinstance(old.get("additionalProperties"), Mapping)
    kept = old.get(_PRESERVE) and not new.get(_PRESERVE)
    is_object = old.get("type", "object") == "object" and not old.get(_EITHER)
    if kept and is_object and not values_said:
        yield path, "no unknown properties any more"
    for key, tail in _INSIDE.items():
        inner = old.get(key)
        if kept and key == "items" and isinstance(inner, Mapping):
            inner = {**inner, _PRESERVE: True}  # What a list keeps is in its elements.
        if isinstance(inner, Mapping) and isinstance(new.get(key), Mapping):
            yield from _narrowed(inner, new[key], f"{path}{tail}")
        elif inner and not new.get(key) and not new.get(_PRESERVE):
            yield path, f"no `{key}` any more"


def _wider(kind: Any) -> str | None:
    return "number" if kind == "integer" else None


def _greater(one: Any, other: Any) -> bool:
    return bool(one > other)


def _less(one: Any, other: Any) -> bool:
    return bool(one < other)
