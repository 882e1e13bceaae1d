"""Versions of resource types as structural schemas, the form of OpenAPI that a CRD may have.

A structural schema has no references, a type at every place, and nothing that makes properties inside of `allOf`, `anyOf`, `oneOf` and `not`:
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema.
What a version says beyond that is left out, and noted: the server then accepts more there than the version does, and keeps it all.
"""

from collections.abc import Callable, Mapping
from typing import Any

from trundle.api import ServedVersion, openapi_definition
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes._go_patterns import is_taken_by_go

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
_LIST_TYPE, _LIST_KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_MOST_PLACES = 50_000
"""How many places a schema may have; etcd keeps no object of more than 1.5 MB."""

_VALIDATIONS = frozenset(
    {
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "required",
    }
)
_SAID = frozenset({"description", "example"})
_KEPT = (
    _VALIDATIONS
    | _SAID
    | {
        "default",
        "nullable",
        "type",
        _EMBEDDED,
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
        _INT_OR_STRING,
        _LIST_TYPE,
        _PRESERVE,
    }
)
_COMBINING = ("allOf", "anyOf", "oneOf")
_WHOLE = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}
"""What a whole resource inside another one has."""

_HEAD = {
    "apiVersion": {
        "type": "string",
        "description": "The API group and the version that this representation of the object has.",
    },
    "kind": {"type": "string", "description": "The name of the resource type."},
    "metadata": {"type": "object"},
}


def structural(served: ServedVersion, note: Callable[[str, str], object]) -> dict[str, Any]:
    """The structural schema of a version.

    Args:
        served: the version.
        note: is called with each place, and what a structural schema cannot say of it.

    Raises:
        DefinitionError: it has too many places for a cluster to keep it.
    """
    found = _Expansion(served, note).definition(served.root, "", ())
    if "properties" not in found:
        found[_PRESERVE] = True
    found.pop("additionalProperties", None)
    found["properties"] = {**found.get("properties", {}), **_HEAD}
    return found


class _Expansion:
    """Puts definitions in the place of references."""

    def __init__(self, served: ServedVersion, note: Callable[[str, str], object]) -> None:
        self._served = served
        self._note = note
        self._places = 0

    def definition(self, key: str, path: str, around: tuple[str, ...]) -> dict[str, Any]:
        """A definition at a place.

        Args:
            key: the definition.
            path: the place.
            around: the definitions that it stands in.
        """
        if key in around:
            self._note(path, "what is inside of it, as it may contain itself")
            return {"type": "object", _PRESERVE: True}
        schema = openapi_definition(key, self._served, lambda each: each)
        found = self.schema(schema, path, (*around, key))
        if around and self._served.is_whole(key):
            # The server knows these three by itself, and takes no more said of them.
            found["properties"] = {**found.get("properties", {}), **_WHOLE}
            found[_EMBEDDED] = True
        return found

    def schema(
        self, given: Mapping[str, Any], path: str, around: tuple[str, ...]
    ) -> dict[str, Any]:
        """A schema at a place."""
        self._places += 1
        if self._places > _MOST_PLACES:
            expected = f"a version with at most {_MOST_PLACES} places"
            advice = "take types apart into resource types of their own, or make parts free-form"
            where = f"{self._served.resource.name} at {self._served.version}"
            raise DefinitionError(where, expected, "one with more", advice)
        if "$ref" in given:
            return self.definition(given["$ref"], path, around)
        found: dict[str, Any] = {}
        for each in given.get("allOf", ()):
            if "$ref" in each:
                found |= self.definition(each["$ref"], path, around)
        found |= {key: value for key, value in given.items() if key in _KEPT}
        if "type" not in found and not found.get(_PRESERVE) and "oneOf" in given:
            return found | self._union(given["oneOf"], path, around)
        self._children(given, found, path, around)
        self._validations(given, found, path)
        return found

    def _union(self, variants: list[Any], path: str, around: tuple[str, ...]) -> dict[str, Any]:
        """One of several types: what all have in common."""
        read = [self.schema(each, path, around) for each in variants]
        kinds = {each.get("type") for each in read}
        if kinds == {"integer", "string"}:
            if any(each.keys() & (_VALIDATIONS - {"format"}) for each in read):
                self._note(path, "which integers and texts it takes")
            return {_INT_OR_STRING: True}
        self._note(path, "which of several types it has")
        return {"type": "object", _PRESERVE: True} if kinds == {"object"} else {_PRESERVE: True}

    def _children(
        self,
        given: Mapping[str, Any],
        found: dict[str, Any],
        path: str,
        around: tuple[str, ...],
    ) -> None:
        """What a schema says of members and elements."""
        if "properties" in given:
            found["properties"] = {
                name: self.schema(each, f"{path}.{name}", around)
                for name, each in given["properties"].items()
            }
        values = given.get("additionalProperties")
        if isinstance(values, Mapping):
            if values.keys() - _SAID == {_PRESERVE} and (
                "properties" in given or values == {_PRESERVE: True}
            ):
                found[_PRESERVE] = True
            elif "properties" in given:
                self._note(path, "the type of its other properties")
                found[_PRESERVE] = True
            else:
                found["additionalProperties"] = self.schema(values, f"{path}.*", around)
        if "items" in given:
            found["items"] = self.schema(given["items"], f"{path}[]", around)
            keys = given.get(_LIST_KEYS)
            if keys and _identify(keys, found["items"]):
                found[_LIST_KEYS] = keys
            elif keys:
                self._note(
                    path, "the keys of its elements, which are neither required nor have a default"
                )
                found.pop(_LIST_TYPE, None)

    def _validations(self, given: Mapping[str, Any], found: dict[str, Any], path: str) -> None:
        """What a schema says of values, in the words of OpenAPI 3.0."""
        for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if not isinstance(found.get(exclusive, False), bool):
                found[limit] = found[exclusive]
                found[exclusive] = True
        pattern = found.get("pattern")
        if pattern is not None and not is_taken_by_go(pattern):
            self._note(path, f"the pattern {pattern}, which Go cannot match")
            del found["pattern"]
        if given.get("uniqueItems"):
            self._note(path, "that its elements are unique")
        if found.get(_INT_OR_STRING):
            found.pop("type", None)
            return
        for key in _COMBINING:
            kept = [each for each in given.get(key, ()) if "$ref" not in each]
            if kept and all(map(_only_validates, kept)):
                found[key] = kept
            elif kept:
                self._note(path, f"its `{key}`")
        if "not" in given and _only_validates(given["not"]):
            found["not"] = given["not"]
        elif "not" in given:
            self._note(path, "its `not`")


def _identify(keys: list[str], items: Mapping[str, Any]) -> bool:
    """Whether elements have all their keys, as the server demands of them."""
    properties = items.get("properties", {})
    required = items.get("required", ())
    return all(
        each in properties and (each in required or "default" in properties[each]) for each in keys
    )


def _only_validates(schema: Any) -> bool:
    """Whether a schema may stand in `allOf` and the like: it only says more of what is declared around it."""
    if not isinstance(schema, Mapping):
        return False
    return all(
        all(map(_only_validates, value.values()))
        if key == "properties"
        else all(map(_only_validates, value))
        if key in _COMBINING
        else _only_validates(value)
        if key in {"items", "not"}
        else is_taken_by_go(value)
        if key == "pattern"
        else key in _VALIDATIONS
        for key, value in schema.items()
    )
