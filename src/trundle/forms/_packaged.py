"""The forms of a package, and the parameters that its classes give them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from trundle.engine import Session, core_packages
from trundle.engine.expressions import Mapped
from trundle.errors import Finding, Place, did_you_mean, expectation, listed, shown
from trundle.forms._conversion import ConvertedForm, converted
from trundle.forms._errors import FormChoiceError, FormCode, FormError
from trundle.forms._findings import text_of
from trundle.forms._foreseen import classes_named, foreseen
from trundle.forms._model import Form
from trundle.packages import Package

USUAL: Final = "UI/ui.yaml"


def form_files(package: Package) -> tuple[str, ...]:
    """The paths in a package of its forms, as its manifest lists them; `UI/ui.yaml` where it lists none."""
    names = set(package.files)
    listed = package.manifest.forms
    if not listed:
        return (USUAL,) if USUAL in names else ()
    return tuple(each if f"UI/{each}" not in names else f"UI/{each}" for each in listed)


def packaged_form(package: Package, path: str) -> ConvertedForm:
    """A form of a package, in the newest version of the format; the package keeps the original.

    Args:
        package: the package.
        path: the path of the form in it.

    Raises:
        FormError: the form cannot be used; the error has all findings.
        KeyError: the package has no such file.
    """
    return converted(_text(package, path), path, package.name)


def form_of_package(package: Package, name: str | None = None) -> ConvertedForm | None:
    """The form of a package, in the newest version of the format; None where it has none.

    Args:
        package: the package.
        name: its file, where there are several.

    Raises:
        FormChoiceError: there are several, or none of that name.
        FormError: it cannot be used.
    """
    files = form_files(package)
    known = [each for each in files if name is None or name in (each, each.removeprefix("UI/"))]
    if len(known) == 1:
        return packaged_form(package, known[0])
    if not files and name is None:
        return None
    if name is None:
        expected, found = f"the file of one form of {package.name}", f"several: {listed(files)}"
        raise FormChoiceError(package.name, expected, found, "name one of them")
    advice = did_you_mean(name, files) if files else "leave the form out"
    expected = (
        f"a form of {package.name}" if files else f"no form of {package.name}, which has none"
    )
    raise FormChoiceError(package.name, expected, name, advice)


def check_forms(package: Package, among: Iterable[Package] | None = None) -> tuple[Finding, ...]:
    """What is wrong with the forms of a package, and what a person must look at before they are of the newest version.

    Args:
        package: the package.
        among: the packages whose classes its forms may name besides its own and the bundled ones; None where these are not known.
    """
    found: list[Finding] = []
    for path in form_files(package):
        if path not in package.files:
            continue
        try:
            form = packaged_form(package, path)
        except FormError as error:
            found += error.findings
            continue
        found += form.findings
        found += foreseen(form.form)
        if among is not None:
            found += _unknown_classes(form.form, (package, *among))
    whole = f"{package.name} {package.version}"
    return tuple(
        replace(
            each,
            place=replace(each.place, object=": ".join(filter(None, (whole, each.place.object)))),
        )
        for each in found
    )


def _unknown_classes(form: Form, packages: Iterable[Package]) -> Iterator[Finding]:
    """The classes that a form names and no package at hand has."""
    named = list(classes_named(form))
    if not named:
        return
    known = {name for each in (*packages, *core_packages()) for name in each.classes}
    for name, place in named:
        if name not in known:
            otherwise = (
                "correct it, unless a package that environments use beside this one brings it"
            )
            advice = did_you_mean(name, known, otherwise)
            expected = "a class of the package or of those at hand"
            yield Finding(FormCode.NAME, place, expected, name, advice, "warning")


def _text(package: Package, path: str) -> str:
    try:
        return package.file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place, advice = Place(path), "save it as UTF-8"
        found = f"other bytes at {error.start}"
        raise FormError([Finding(FormCode.STRUCTURE, place, "UTF-8", found, advice)]) from None


def parameters_of(form: Form, package: Package, session: Session) -> dict[str, Any]:
    """What the method gives that a form names under `ParametersSource`; nothing where it names none.

    Args:
        form: the form.
        package: its package.
        session: a session of an engine that has the package; the method runs in it.

    Raises:
        EngineError: there is no such method, or it fails.
        FormError: it gives no map.
    """
    if not form.parameters_source:
        return {}
    class_name, _, method = form.parameters_source.rpartition(".")
    type_ = session.type(
        class_name or _class_of(form) or package.name, str(package.version), package.name
    )
    found = session.call(type_, method)
    if found is None:
        return {}
    if not isinstance(found, dict):
        place = Place(form.file, object="ParametersSource")
        message = expectation(f"a map from {form.parameters_source}", shown(found))
        raise FormError([Finding(FormCode.MODEL, place, "", message, "return a map")])
    return found


def _class_of(form: Form) -> str | None:
    header = form.application.get("?") if isinstance(form.application, Mapped) else None
    type_ = header.get("type") if isinstance(header, Mapped) else None
    return text_of(type_) if type_ is not None else None
