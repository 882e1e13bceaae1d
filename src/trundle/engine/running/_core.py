"""What Python does behind the classes of the bundled core library."""

import base64
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from trundle.documents import UnreadableError, parse_values
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._handle import Handle, inside
from trundle.engine._model import is_whole, load_model, load_object
from trundle.engine._type import Type
from trundle.engine.expressions import format_text
from trundle.engine.running._effect_natives import EFFECT_NATIVES
from trundle.engine.running._frame import Frame
from trundle.engine.running._natives import with_frame
from trundle.engine.running._new_objects import type_of
from trundle.engine.running._thrown import error_of
from trundle.engine.running._watching import brief
from trundle.errors import did_you_mean, expectation, shown

_RESOURCES = "Resources/"


class Objects:
    """`io.murano.Object`: what code remembers of objects, over runs."""

    @with_frame
    def set_attr(self, frame: Frame, name: str, value: Any, owner: Any = None) -> None:
        """Remembers a value of the object; null forgets it. An object in it is remembered by its id."""
        key, attributes = _attribute(frame, name, owner), frame.world.attributes
        if value is None:
            attributes.pop(key, None)
        else:
            attributes[key] = _remembered(value)

    @with_frame
    def get_attr(self, frame: Frame, name: str, default: Any = None, owner: Any = None) -> Any:
        """What was remembered; a default where nothing was."""
        return frame.world.attributes.get(_attribute(frame, name, owner), default)


def _attribute(frame: Frame, name: str, owner: Any) -> tuple[str, str, str]:
    """The key of a value: it belongs to a class, that of the calling code where none is given."""
    asking: Any = frame if frame.caller is None else frame.caller
    class_name = asking.origin.name if owner is None else type_of(asking, owner).name
    this: Any = frame.this
    return this.id, class_name, name


def _remembered(value: Any) -> Any:
    match value:
        case Handle():
            return value.id
        case Type():
            return value.name
        case list():
            return [_remembered(each) for each in value]
        case dict():
            return {_remembered(key): _remembered(each) for key, each in value.items()}
        case None | str() | bool() | int() | float():
            return value
    raise TypeError(expectation("a value of a model to remember", shown(value)))


class Exceptions:
    """`io.murano.Exception`."""

    def __init__(self, this: Handle) -> None:
        self._this = this

    def to_string(self) -> str:
        """The name, the message, and the methods that it passed through."""
        error = error_of(self._this.instance)
        return "" if error is None else error.format()


class StackTraces:
    """`io.murano.StackTrace`."""

    def __init__(self, this: Handle) -> None:
        self._this = this

    def to_string(self) -> str:
        """The methods, each in a line, the outermost first."""
        return "\n".join(each["instruction"] for each in self._this.get("frames"))


class Logger:
    """`io.murano.system.Logger`: writes to Python's logging, under `trundle.packages.NAME`."""

    def __init__(self, this: Handle) -> None:
        self._log = logging.getLogger(f"trundle.packages.{this.get('name')}")

    def trace(self, message: str, *args: Any, **values: Any) -> None:
        """Writes a message of the lowest level."""
        self._write(logging.DEBUG, message, args, values)

    def debug(self, message: str, *args: Any, **values: Any) -> None:
        """Writes a message for developers."""
        self._write(logging.DEBUG, message, args, values)

    def info(self, message: str, *args: Any, **values: Any) -> None:
        """Writes a message."""
        self._write(logging.INFO, message, args, values)

    def warning(self, message: str, *args: Any, **values: Any) -> None:
        """Writes a warning."""
        self._write(logging.WARNING, message, args, values)

    def error(self, message: str, *args: Any, **values: Any) -> None:
        """Writes an error."""
        self._write(logging.ERROR, message, args, values)

    def critical(self, message: str, *args: Any, **values: Any) -> None:
        """Writes an error of the highest level."""
        self._write(logging.CRITICAL, message, args, values)

    def exception(self, exception: Handle, message: str | None = None) -> None:
        """Writes an exception, with the methods that it passed through."""
        error = error_of(exception.instance if isinstance(exception, Handle) else exception)
        self._log.error("%s\n%s", message or "an exception", error.format() if error else "")

    def _write(self, level: int, message: str, args: Any, values: Any) -> None:
        self._log.log(level, "%s", format_text(message, *args, **values))


class Resources:
    """`io.murano.system.Resources`: files of the package whose code asks, or of the class of an object."""

    @staticmethod
    @with_frame
    def string(frame: Frame, name: str, owner: Any = None, binary: bool = False) -> str:  # noqa: FBT001, FBT002
        """A file as text; a binary one in base64."""
        data = _file(frame, name, owner)
        if binary:
            return base64.b64encode(data).decode()
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            found = f"the byte {data[error.start]:#04x} at {error.start} in {name}"
            advice = "give `binary => true` to have it in base64"
            raise ValueError(expectation("text in UTF-8", found, advice)) from None

    @staticmethod
    @with_frame
    def json(frame: Frame, name: str, owner: Any = None) -> Any:
        """What a JSON file holds."""
        return _parsed(frame, name, owner, yaml=False)[0]

    @staticmethod
    @with_frame
    def yaml(frame: Frame, name: str, owner: Any = None) -> Any:
        """What the first document of a YAML file holds."""
        return next(iter(_parsed(frame, name, owner, yaml=True)), None)


def _file(frame: Frame, name: str, owner: Any) -> bytes:
    origin: Any = frame.caller.origin if frame.caller is not None else frame.origin
    if owner is not None:
        if not isinstance(owner, Handle | Type):
            raise TypeError(expectation("an object or a class as `owner`", shown(owner)))
        origin = owner.type if isinstance(owner, Handle) else owner
    try:
        return origin.source.file(f"{_RESOURCES}{name}")  # type: ignore[no-any-return]
    except KeyError:
        files = [each for each in origin.source.files if each.startswith(_RESOURCES)]
        known = [each.removeprefix(_RESOURCES) for each in files]
        message = expectation(f"a resource of {origin.source.name}", name)
        advice = did_you_mean(name, known, f"add it to {_RESOURCES} of the package")
        raise FileNotFoundError(f"{message}; {advice}") from None


def _parsed(frame: Frame, name: str, owner: Any, *, yaml: bool) -> Sequence[Any]:
    """The documents of a file; packages catch what is wrong with them as they catch Python's errors of JSON."""
    try:
        return parse_values(_file(frame, name, owner), file=name, yaml=yaml)
    except UnreadableError as error:
        raise ValueError(str(error)) from None


class Collector:
    """`io.murano.system.GC`: the objects that nothing leads to, and what is called when others are destroyed."""

    @staticmethod
    @with_frame
    def collect(frame: Frame) -> None:
        """Destroys what nothing leads to."""
        frame.world.collect()

    @staticmethod
    @with_frame
    def is_doomed(frame: Frame, object: Handle) -> bool:  # noqa: A002
        """Whether an object is being destroyed."""
        return object.instance in frame.world.doomed

    @staticmethod
    def is_destroyed(object: Handle) -> bool:  # noqa: A002
        """Whether an object is destroyed."""
        return object.instance.is_destroyed

    @staticmethod
    @with_frame
    def subscribe_destruction(
        frame: Frame, publisher: Handle, subscriber: Handle, handler: str | None = None
    ) -> None:
        """Has a method of an object called before another one is destroyed."""
        type_ = subscriber.instance.type
        if handler and handler not in type_.methods:
            message = expectation(f"a method of {type_.name} as handler", handler)
            raise EngineError(
                EngineCode.NO_METHOD, message, advice="declare it, or correct the name"
            )
        frame.world.subscriptions.add(publisher.instance, subscriber.id, handler or "")

    @staticmethod
    @with_frame
    def unsubscribe_destruction(
        frame: Frame, publisher: Handle, subscriber: Handle, handler: str | None = None
    ) -> None:
        """Ends that."""
        frame.world.subscriptions.remove(publisher.instance, subscriber.id, handler or "")


class Reporter:
    """`io.murano.system.StatusReporter`: writes to Python's logging, under `trundle.status`."""

    def report(self, instance: Handle, msg: str) -> None:
        """Reports what an object does."""
        logging.getLogger("trundle.status").info("%s: %s", instance.name or instance.id, msg)

    def report_error(self, instance: Handle, msg: str) -> None:
        """Reports what went wrong with an object."""
        logging.getLogger("trundle.status").error("%s: %s", instance.name or instance.id, msg)


class Fixture:
    """`io.murano.test.TestFixture`: what tests of packages call.

    Its `startEnv` and `finishEnv` have nothing to do: no cloud waits for what a test wants.
    """

    @with_frame
    def load(self, frame: Frame, model: Mapping[str, Any]) -> Handle | None:
        """The root of a model that is loaded, or the object."""
        world = frame.world
        given = inside(world, model)
        root = load_model(world, given).root if is_whole(given) else load_object(world, given)
        return None if root is None else Handle(world, root)

    def assert_equal(self, expected: Any, observed: Any, message: str | None = None) -> None:
        """Fails unless two values are equal."""
        if expected != observed:
            raise _failed(message, expectation(brief(expected), brief(observed)))

    def assert_true(self, expr: Any, message: str | None = None) -> None:
        """Fails unless a value is true."""
        if not expr:
            raise _failed(message, expectation("what is true", brief(expr)))

    def assert_false(self, expr: Any, message: str | None = None) -> None:
        """Fails if a value is true."""
        if expr:
            raise _failed(message, expectation("what is false", brief(expr)))

    def assert_in(self, needle: Any, haystack: Any, message: str | None = None) -> None:
        """Fails unless something holds a value."""
        if needle not in haystack:
            raise _failed(message, expectation(brief(needle), f"only {brief(haystack)}"))

    def assert_not_in(self, needle: Any, haystack: Any, message: str | None = None) -> None:
        """Fails if something holds a value."""
        if needle in haystack:
            raise _failed(message, f"{brief(needle)} is in {brief(haystack)}")


def _failed(message: str | None, why: str) -> AssertionError:
    return AssertionError(f"{message}: {why}" if message else why)


def core_natives() -> dict[str, type]:
    """The Python classes behind classes of the bundled packages, by name and the versions that are bundled."""
    return {
        "io.murano.Object": Objects,
        "io.murano.Exception/0": Exceptions,
        "io.murano.StackTrace/0": StackTraces,
        "io.murano.system.GC/0": Collector,
        "io.murano.system.Logger/0": Logger,
        "io.murano.system.Resources/0": Resources,
        "io.murano.system.StatusReporter/0": Reporter,
        "io.murano.test.TestFixture/0": Fixture,
        **EFFECT_NATIVES,
    }
