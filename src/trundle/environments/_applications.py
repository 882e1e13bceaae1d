"""Applications of environments: objects of packages, added to a model and removed from it."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from trundle.catalog import NoSuchPackageError, Snapshot
from trundle.engine import HEADER, Engine, EngineCode, EngineError, Limits
from trundle.engine.effects import secret_marker
from trundle.environments._errors import ChoiceError, NoSuchObjectError
from trundle.environments._models import APPLICATIONS, pinned
from trundle.environments._records import Model
from trundle.errors import did_you_mean, listed, shown
from trundle.forms import Form, parameters_of
from trundle.packages import Package
from trundle.version import ANY, VersionError, VersionRange

_APPLICATION = "io.murano.Application"


def chosen_package(snapshot: Snapshot, named: str) -> Package:
    """The newest version of the package that `NAME` or `NAME@RANGE` names.

    Raises:
        NoSuchPackageError: the tenant sees none.
        ChoiceError: the range is none.
    """
    name, _, spec = named.partition("@")
    known = snapshot.versions(name)
    try:
        wanted = VersionRange.parse(spec) if spec else ANY
    except VersionError:
        expected = "NAME or NAME@RANGE, with a range of versions such as `1` or `>=1.2`"
        raise ChoiceError(named, expected, shown(spec), "correct what stands after @") from None
    version = wanted.choose(known)
    if version is not None:
        return snapshot.package(name, version)
    expected = f"a package {named} that {snapshot.tenant} sees"
    if known:
        raise NoSuchPackageError(
            named, expected, f"only {listed(map(str, known))}", "name another range"
        )
    near = did_you_mean(name, snapshot.names, "run `trundle catalog list` to see what there is")
    raise NoSuchPackageError(named, expected, "no such package", near)


def form_parameters(
    form: Form, package: Package, snapshot: Snapshot, limits: Limits | None = None
) -> dict[str, Any]:
    """The parameters that the classes of a package give its form; this runs its code.

    Raises:
        EngineError: they cannot be computed.
        FormError: they are no map.
    """
    if not form.parameters_source:
        return {}
    with Engine(snapshot, limits=limits).session() as session:
        return parameters_of(form, package, session)


class HiddenAnswers:
    """Keeps answers to questions for passwords as secrets.

    Args:
        package: the package of the form.

    Attributes:
        secrets: the answers so far, by the names of their secrets.
    """

    def __init__(self, package: Package) -> None:
        self._head = f"{package.name}-{uuid.uuid4().hex[:8]}"
        self.secrets: dict[str, str] = {}

    def __call__(self, step: str, field: str, value: str) -> str:
        """What stands in the model for an answer."""
        name = f"{self._head}.{step}.{field}"
        self.secrets[name] = value
        return secret_marker(name)


def object_of(package: Package, properties: Mapping[str, Any], class_name: str | None) -> Model:
    """An object with properties: of a class, or of the one that the package is about.

    Raises:
        ChoiceError: it has several classes, and none is named.
    """
    header = properties.get(HEADER)
    name = class_name or _main_class(package)
    return {**properties, HEADER: {"type": name, **(header if isinstance(header, dict) else {})}}


def _main_class(package: Package) -> str:
    classes = list(package.classes)
    if package.name in classes:
        return package.name
    if len(classes) == 1:
        return classes[0]
    expected = f"one of the classes of {package.name}, named"
    raise ChoiceError(package.name, expected, listed(classes) if classes else "none", "name it")


def check_application(
    made: Model, package: Package, snapshot: Snapshot, limits: Limits | None = None
) -> None:
    """Makes sure that an environment can have an object as an application.

    Args:
        made: the object.
        package: the package that it was chosen from.
        snapshot: what the tenant sees.
        limits: how much the classes may ask for.

    Raises:
        ChoiceError: there is no such class, or it is not one of applications.
        EngineError: the class cannot be built.
    """
    name = made[HEADER].get("type")
    if not isinstance(name, str):
        return  # The engine refuses it
    header = pinned(made, package)[HEADER]
    with Engine(snapshot, limits=limits).session() as session:
        try:
            found = session.type(name, header.get("classVersion"), header.get("package"))
        except EngineError as error:
            if error.code is not EngineCode.NO_CLASS or name in package.classes:
                raise
            expected = f"a class of {package.name} {package.version}"
            near = did_you_mean(name, package.classes)
            raise ChoiceError(package.name, expected, name, near) from None
    if _APPLICATION not in {each.name for each in found.ancestors}:
        expected, advice = f"a class that extends {_APPLICATION}", "add an object of another class"
        raise ChoiceError(package.name, expected, found.label, advice)


def adding(made: Model, package: Package, name: str | None) -> Callable[[Model], Model]:
    """Adds an application to a model: an object of a package, with the version of the package, and with an id.

    Args:
        made: the object.
        package: the package.
        name: what the object is called.

    Raises:
        ChoiceError: an application of the model is called that already, so that nothing could be asked of either by its name.
    """
    header = {"id": uuid.uuid4().hex, **made[HEADER]}
    header |= {} if name is None else {"name": name}
    added = pinned({**made, HEADER: header}, package)

    def change(model: Model) -> Model:
        there = model.get(APPLICATIONS, ())
        same = [x[HEADER]["id"] for x in there if name and x[HEADER].get("name") == name]
        if same:
            expected, advice = "a name that no application has", "choose another name"
            raise ChoiceError(
                package.name, expected, f"{name}, as {listed(same)} is called", advice
            )
        return {**model, APPLICATIONS: [*there, added]}

    return change


def removing(environment: str, named: str) -> Callable[[Model], Model]:
    """Removes an application from a model, by its id or its name.

    Raises:
        NoSuchObjectError: the environment has no such application.
    """

    def change(model: Model) -> Model:
        there = model.get(APPLICATIONS, ())
        known = [(each[HEADER]["id"], each[HEADER].get("name")) for each in there]
        found = [each for each in known if named in each]
        if len(found) != 1:
            text = ", ".join(f"{id_} {called}" if called else id_ for id_, called in known)
            expected, advice = f"one application {named}", "name one of these"
            if not there:
                advice = "there is no application to remove"
            raise NoSuchObjectError(environment, expected, text or "none", advice)
        return {**model, APPLICATIONS: [x for x in there if x[HEADER]["id"] != found[0][0]]}

    return change


def replacing(environment: str, given: Model, where: str) -> Callable[[Model], Model]:
    """Replaces a model by another one of the same environment.

    Args:
        environment: the environment.
        given: the other model.
        where: where it comes from, for messages.

    Raises:
        ChoiceError: it is the model of something else.
    """

    def change(old: Model) -> Model:
        header, identifier = given.get(HEADER), old[HEADER]["id"]
        if not isinstance(header, dict) or header.get("id") != identifier:
            expected, found = f"the object {identifier} of {environment}", "another one"
            raise ChoiceError(where, expected, found, f"keep what stands under `{HEADER}`")
        return given

    return change
