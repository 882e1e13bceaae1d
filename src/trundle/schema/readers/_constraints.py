"""The constraints of properties, and of what they hold."""

from collections.abc import Container, Sequence
from typing import Any

from trundle.schema._model import FreeForm, ListOf, MapOf, Nullable, Type, Union
from trundle.schema.readers import _merge
from trundle.schema.readers._facets import Dialect, Facet, Facets, take_apart
from trundle.schema.readers._library import Document, Library, Node


class Constraints:
    """Reads the constraints of properties.

    Args:
        library: the documents.
        dialect: what keywords mean.
        passed_over: the places of variants that are left out; grows.
    """

    def __init__(
        self, library: Library, dialect: Dialect, passed_over: Container[tuple[Document, str]]
    ) -> None:
        self._library = library
        self._dialect = dialect
        self._passed_over = passed_over

    def of(self, facets: Facets, own: Sequence[Facet], kind: Type | None) -> dict[str, Any]:
        """The constraints of a property, and under `items` and the like those of what it holds.

        Where anything is carried verbatim, its `type` and its `enum` are constraints, as its `Type` does not have them; so is the `enum` of an integer or a text.
        """
        found = _merge.constraints(own, structural=self._dialect.structural)
        match kind.inner if isinstance(kind, Nullable) else kind:
            case ListOf(items, _):
                self._nest(found, "items", _merge.children(own, "items"), items)
            case MapOf(values):
                nodes = _merge.value_schemas(own) or []
                self._nest(found, "additionalProperties", nodes, values)
            case FreeForm():
                kinds = _merge.kinds(facets.all)
                stated = [each for each in kinds or () if each != "null"]
                if stated:
                    found.setdefault("type", stated[0] if len(stated) == 1 else stated)
                listed = _merge.values(facets.all, kinds) or ()
                if any(isinstance(each, dict | list) for each in listed):
                    found.setdefault("enum", list(listed))
            case Union() if _merge.is_integer_or_text(facets.all):
                if (allowed := _merge.values(facets.all, None)) is not None:
                    found.setdefault("enum", list(allowed))
            case Union():
                for choice in facets.alternatives:
                    kept = [each for each in choice.variants if each.place not in self._passed_over]
                    variants = [self._inner([each], None) for each in kept]
                    if choice.origin is None and any(variants):
                        found.setdefault(choice.keyword, variants)
        return found

    def _nest(self, found: dict[str, Any], keyword: str, nodes: Sequence[Node], kind: Type) -> None:
        inner = self._inner(nodes, kind) if nodes else {}
        if inner:
            found.setdefault(keyword, inner)

    def _inner(self, nodes: Sequence[Node], kind: Type | None) -> dict[str, Any]:
        facets = take_apart(nodes, self._library, self._dialect)
        own = [each for each in facets.all if each.origin is None]
        return self.of(facets, own, kind)
