"""The bases of all generated classes, and what their methods ask of the scheme of their package."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from trundle.runtime._errors import ConversionError
from trundle.runtime._objects import ABSENT, Absent, GeneratedObject, spoken

if TYPE_CHECKING:
    from trundle.runtime._entries import PropertyBag


class ObjectMethods(ABC):
    """What the methods of generated objects call."""

    @abstractmethod
    def conversion_of(
        self, source: type[Any], target: type[Any] | None, *, up: bool
    ) -> Callable[[Any], Any]:
        """The conversion between a class and the storage classes that keep it.

        Args:
            source: a generated class.
            target: a storage class; None where there is just one.
            up: whether the way leads to storage.

        Raises:
            ConversionError: there is none, or there are several to choose from.
        """

    @abstractmethod
    def carried(self, stored: Any, class_: type[Any], *, stale: bool) -> Any:
        """What the bag of a storage object carries for an API class; absent for all else.

        Args:
            stored: the storage object.
            class_: the API class.
            stale: whether the stale entries are wanted, and not those that are current.

        Raises:
            ConversionError: objects of its class are not kept for the API class.
            BagError: an entry cannot be read.
        """


class PackageScheme:
    """A scheme as the objects of its package know it.

    Attributes:
        package: the package's dotted name.
        objects: what the methods of its objects call.
    """

    package: str
    objects: ObjectMethods


def scheme_of(class_: type[Any]) -> PackageScheme:
    """The scheme of the generated package that a class belongs to: the nearest one around its module.

    Raises:
        ConversionError: it belongs to none.
    """
    package = class_.__module__
    while package:
        scheme = getattr(sys.modules.get(package), "scheme", None)
        if isinstance(scheme, PackageScheme) and scheme.package == package:
            return scheme
        package = package.rpartition(".")[0]
    raise ConversionError(f"{spoken(class_)} does not belong to a generated package")


class ApiObject(GeneratedObject, kw_only=True):
    """An object as clients of one API version see it: required means required."""

    def convert_to_storage(self, target: type[Any] | None = None) -> Any:
        """This object as a storage object, of the newest storage type that there is for it.

        Args:
            target: the storage class, where this class is kept as several.

        Raises:
            ConversionError: there is no such storage class, or several.
        """
        return scheme_of(type(self)).objects.conversion_of(type(self), target, up=True)(self)

    @classmethod
    def convert_from_storage(cls, stored: Any) -> Self:
        """A storage object as an object of this class.

        Raises:
            ConversionError: objects of its class are not kept for this class.
        """
        found: Self = scheme_of(cls).objects.conversion_of(cls, type(stored), up=False)(stored)
        return found


AnyApiObject = TypeVar("AnyApiObject", bound=ApiObject)


class StorageObject(GeneratedObject, kw_only=True):
    """An object as it is persisted: every property is optional, and there is a property bag.

    Attributes:
        property_bag: what the class has no property for.
    """

    __discriminators__: ClassVar[tuple[str, ...]] = ()
    __entries_within__: ClassVar[
        tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]
    ] = ()
    __entries_within_entries__: ClassVar[
        tuple[tuple[tuple[str, str], tuple[tuple[str, str], ...]], ...]
    ] = ()
    __entries_as_free_form__: ClassVar[
        tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...]
    ] = ()
    __outside__: ClassVar[tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]] = ()
    __entries_of_one_value__: ClassVar[
        tuple[tuple[tuple[str, ...], tuple[tuple[tuple[str, str], ...], ...]], ...]
    ] = ()

    if TYPE_CHECKING:
        property_bag: PropertyBag | Absent = ABSENT

    def bag(self, class_: type[AnyApiObject], /, *, stale: bool = False) -> AnyApiObject:
        """What the bag carries for another version: `stored.bag(v2013.Person).first_name`.

        The result has the version's attributes. Those that the bag has an entry for have its value in the version's
        shape; all others are absent, required ones too. It shares nothing with this object. Nested storage
        objects have bags of their own.

        Args:
            class_: the API class of the version.
            stale: whether to give the stale entries, which the version does not show, and not the current ones.

        Raises:
            ConversionError: objects of this class are not kept for the API class.
            BagError: an entry cannot be read.
        """
        found: AnyApiObject = scheme_of(type(self)).objects.carried(self, class_, stale=stale)
        return found

    def convert_to_storage(self, target: type[Any] | None = None) -> Any:
        """This object as the newest storage type: the way an older stored object is rolled forward.

        Raises:
            ConversionError: there is no such storage class.
        """
        return scheme_of(type(self)).objects.conversion_of(type(self), target, up=True)(self)

    @classmethod
    def convert_from_storage(cls, stored: Any) -> Self:
        """An older storage object as an object of this class.

        Raises:
            ConversionError: nothing leads from its class to this one.
        """
        found: Self = scheme_of(type(stored)).objects.conversion_of(type(stored), cls, up=True)(
            stored
        )
        return found
