"""What every scheme can do: the contract that a store, an API or a webhook builds on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, Self, runtime_checkable

from trundle.runtime._lenience import Lenience
from trundle.runtime._objects import FreeForm, GeneratedObject
from trundle.runtime._outcomes import Outcome
from trundle.runtime._quick_views import QuickView
from trundle.runtime._resource_types import ResourceType


@runtime_checkable
class AnyScheme(Protocol):
    """Converts documents and objects of resource types between all their versions.

    A *document* is one object of one version: JSON as bytes, a dictionary, or an object of a generated class. It
    names its version by `apiVersion` and its resource type by `kind` or `type`, or the caller does. A *stored*
    document is what a store keeps: it has `$writtenWith`, and the shape of a storage version.

    With `read(v, S)` for what is stored as version v shows it, and `put(v, D, S)` for a document of version v written
    over it, these laws hold:

    - `read(v, put(v, D, S))` is D: what a client writes, it reads.
    - `put(v, read(v, S), S)` is S, byte for byte.
    - After an edit through v, every version sees the edit where it can express it, and all else as before.

    No input is ever changed, and no result shares with an input what can be changed. Equal inputs give equal results.
    A scheme may be used by several threads at once.

    Every error is a `ConversionError`: `DocumentError` for a document that is not what its version says, with all
    findings; `UnknownVersionError` for a version or resource type that there is not, or of another API group;
    `BagError` for an entry of a property bag that cannot be read; `HookError` for a hook that failed.

    `read_quickly`, `convert_quickly` and `quick_view` are quick ways: each gives what the careful way gives, or None for a document about which
    anything is unusual. The caller takes the careful way then.

    Some arguments mean the same everywhere:

    - `version` and `resource` are a document's version and resource type, where it does not say. It is an error if
      it says otherwise.
    - `lenience` is what is tolerated about a document; None for what its package was generated with: nothing, or
      with `unknown: keep` unknown properties. Objects, and what is stored, are taken as they are.
    """

    @property
    def resources(self) -> Mapping[str, ResourceType]:
        """The resource types, by the names that the scheme calls them by."""
        ...

    @property
    def served(self) -> tuple[str, ...]:
        """The API versions that clients are meant to use; every other one is converted as well."""
        ...

    @property
    def unknown(self) -> str:
        """What happens to unknown properties where no `lenience` is given: `error`, or `keep`."""
        ...

    def storing(self, storage: Mapping[str, str]) -> Self:
        """A scheme that is this one in all, but stores objects in the shape of other versions.

        The hub is what objects are stored as by default. A release that another one shares a store with, or is rolled
        back to, may need an earlier shape. Every storage version that the lock records can be chosen. What is read may
        have any storage shape; an object over which nothing new is written keeps its own.

        Args:
            storage: the storage version of each resource type that is not to be stored as its hub.

        Raises:
            UnknownVersionError: there is no such resource type, or it cannot be stored in that version.
            ConversionError: `storage` is no mapping from names to versions.
        """
        ...

    def read(self, version: str, stored: Any) -> Any:
        """What a store keeps, as it is seen at a version.

        Args:
            version: the API version.
            stored: what the store keeps, of any release.

        Returns:
            JSON for JSON, a dictionary for a dictionary, an object for an object.

        Raises:
            ConversionError: it is not a stored document, it cannot be read, or it has no such version.
        """
        ...

    def read_quickly(
        self, version: str, stored: bytes, described: Callable[[FreeForm], bytes]
    ) -> bytes | None:
        """The quick way of `read`, with other metadata; None for the careful way.

        The document has to start like one that was read before, and to have `metadata` of whose content no schema says anything.

        Args:
            version: the API version.
            stored: what the store keeps, as JSON.
            described: gives the metadata that is shown from that which is kept, both as JSON.

        Raises:
            ConversionError: see `read`.
        """
        ...

    def lacking(self, version: str, stored: Any) -> tuple[str, ...]:
        """What a version requires, and what is stored has nothing for; readers are shown a default or another value there.

        Args:
            version: the API version.
            stored: see `read`.

        Returns:
            JSON paths of the version.

        Raises:
            ConversionError: see `read`.
        """
        ...

    def quick_view(
        self,
        resource: str,
        source: str | None,
        target: str | None,
        keeps_spelling: Callable[[bytes], bool],
    ) -> QuickView | None:
        """The quick way to show documents at a version where that shows all of them.

        Args:
            resource: the resource type.
            source: the documents' API version, of which all but free-form data is taken to be spelt as it will be when it comes back; None for what a store keeps.
            target: the version at which they are shown; None for what a store keeps of them: without metadata, and as if its own version had written it.
            keeps_spelling: whether free-form data will be spelt as it is when it comes back. It is asked about all of it but metadata, which may be no UTF-8.

        Returns:
            The view, which gives None for a document about which anything is unusual; None for the careful way (`read`, `put` and `convert`) with all of them.
        """
        ...

    def put(
        self,
        version: str | None,
        document: Any,
        stored: Any = None,
        *,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Writes a document of a version over what a store keeps; gives what it keeps from now on.

        Args:
            version: the document's API version; None where the document says it.
            document: the document.
            stored: what the store keeps now, in any form; None for a new object.
            resource: see above.
            lenience: see above.

        Returns:
            JSON for JSON, a dictionary for a dictionary, an object for an object.

        Raises:
            ConversionError: the document is not what its version says, or what is stored cannot be read.
        """
        ...

    def convert(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Converts a document, stored or not, to another version, or to what a store keeps.

        Args:
            value: the document.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now; the value is then written over it, so that whatever its
                version cannot see stays.
            version: see above.
            resource: see above.
            lenience: see above.

        Returns:
            A dictionary for a dictionary or JSON, an object for an object.

        Raises:
            ConversionError: see above.
        """
        ...

    def convert_json(
        self,
        data: bytes,
        to: str | None = None,
        base: bytes | None = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        strict: bool = False,
        lenience: Lenience | None = None,
    ) -> bytes:
        """Like `convert`, from JSON to JSON; numbers in free-form data keep their spelling.

        Between API versions that convert straight to each other, only what the conversion touches is decoded,
        and only that is validated: it has its type, and an object that is touched has no unknown and lacks no
        required property. All else has to be well-formed JSON, and is passed on as it is written, white
        space included. Every other document, and one about which anything is unusual, is validated whole.

        Args:
            data: the document.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now.
            version: see above.
            resource: see above.
            strict: whether all of the document is validated.
            lenience: see above. All of the document is looked at where that drops or reports anything.

        Raises:
            ConversionError: see above.
        """
        ...

    def convert_quickly(
        self,
        data: bytes,
        to: str,
        has_repeated: Callable[[bytes], bool],
        *,
        resource: str | None = None,
    ) -> bytes | None:
        """The quick way of a strict `convert_json`; None for the careful way.

        The document has to start like one that was converted before, to be valid without any lenience, and to have each member once,
        which is quicker to see from what was read than from the text alone.

        Args:
            data: the document.
            to: the API version that is wanted.
            has_repeated: whether any JSON has a member several times.
            resource: see above.

        Raises:
            ConversionError: see above.
        """
        ...

    def attempt(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
        losses: bool = False,
    ) -> Outcome:
        """Converts a document whole, and gives its result or its error, what was lost and what was tolerated.

        Whatever is wrong with the document is in the outcome; nothing is raised for it.

        Args:
            value: the document.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now.
            version: see above.
            resource: see above.
            lenience: see above.
            losses: whether to find what is lost on a way to an API version. It costs about as much as two more
                conversions. Of a stored document that is what the version cannot show.
        """
        ...

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
        """Attempts each of some documents, one after the other as the outcomes are asked for.

        One bad document blocks no other. What the iterables themselves raise is passed on.

        Args:
            values: the documents.
            to: the API version that is wanted; None for what a store keeps.
            bases: for each document what the store keeps now, or None; as many as there are documents.
            version: see above.
            resource: see above.
            lenience: see above.
            losses: see `attempt`.

        Raises:
            ValueError: there are more or fewer bases than documents.
        """
        ...

    def to_storage(
        self,
        value: Any,
        base: Any = None,
        *,
        version: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """A document as the storage object that a store keeps: `put` in another form.

        Args:
            value: the document.
            base: what the store keeps now.
            version: see above.
            lenience: see above.

        Raises:
            ConversionError: see above.
        """
        ...

    def from_storage(self, stored: Any, to: str) -> Any:
        """A stored document as an object of an API version: `read` in another form.

        Raises:
            ConversionError: see above.
        """
        ...

    def decode(
        self,
        data: bytes,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """JSON as an object of its API version, or of its storage version.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
        """
        ...

    def encode(self, value: GeneratedObject) -> bytes:
        """The compact JSON of an object.

        Raises:
            DocumentError: a number in it is infinite or no number, or a text has a lone surrogate.
        """
        ...
