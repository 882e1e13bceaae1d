"""What every scheme does with several documents: lists item by item, and many documents one after the other."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from trundle.runtime._heads import Head
from trundle.runtime._lenience import Lenience
from trundle.runtime._lists import DocumentList, list_in
from trundle.runtime._outcomes import Outcome, paired
from trundle.runtime._protocol import AnyScheme
from trundle.runtime._resource_types import ResourceType


class ManyDocuments(AnyScheme):
    """A scheme that converts one document; so it converts several.

    Args:
        served: the API versions that clients are meant to use.
        unknown: what happens to unknown properties where no lenience is given: `error`, or `keep`.
    """

    def __init__(self, served: tuple[str, ...], unknown: str) -> None:
        self._served = served
        self._unknown = unknown
        self._lenience = Lenience(unknown="keep" if unknown == "keep" else "error")

    @property
    def served(self) -> tuple[str, ...]:
        """The API versions that clients are meant to use; every other one is converted as well."""
        return self._served

    @property
    def unknown(self) -> str:
        """What happens to unknown properties where no `lenience` is given: `error`, or `keep`."""
        return self._unknown

    @abstractmethod
    def _named(self, head: Head, name: str) -> object | None:
        """Whatever is known of a resource type, for a document with some head; None where there is none."""

    @abstractmethod
    def _called(self, head: Head, name: str) -> str:
        """What the scheme calls a resource type that is known, for a document with some head."""

    @abstractmethod
    def _listed(self, listed: DocumentList) -> ResourceType | None:
        """The resource type of the items of a list; None for a list of any kind."""

    def convert_many(
        self,
        values: Iterable[Any],
        to: str | None = None,
        bases: Iterable[Any] | None = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
        losses: bool = False,
    ) -> Iterator[Outcome]:
        """Attempts each of some documents; one bad document blocks no other.

        See `AnyScheme.convert_many`.
        """
        for value, base in paired(values, bases):
            yield self.attempt(
                value,
                to,
                base,
                version=version,
                resource=resource,
                lenience=lenience,
                losses=losses,
            )

    def _list_in(self, document: Any) -> DocumentList | None:
        """The list that a document is; None where it is none."""
        return list_in(document, self._named)

    def _convert_list(
        self,
        listed: DocumentList,
        to: str | None,
        base: Any,
        lenience: Lenience | None,
        *,
        strict: bool = True,
    ) -> bytes:
        """A list with every item converted."""

        def convert_item(data: bytes, *, version: str | None, resource: str | None) -> bytes:
            called = None if resource is None else self._called(listed.head, resource)
            return self.convert_json(
                data, to, version=version, resource=called, strict=strict, lenience=lenience
            )

        return listed.convert(convert_item, self._listed(listed), to, base)
