"""The commands that edit drafts of environments: add, remove, edit, discard."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._catalogs import Place, Tenant, tenant_of
from trundle.cli._environments import DraftName, Name, draft_of, opened_environments
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._installing import print_done
from trundle.cli._models import read_model, read_object
from trundle.cli._printing import Format
from trundle.cli._settings import user_name
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from trundle.catalog import Snapshot
    from trundle.environments import Draft, Model
    from trundle.packages import Package

_TYPE = "type"


def add(
    name: Name,
    package: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE", help="A package of the catalog, `NAME` or `NAME@RANGE`; the newest."
        ),
    ],
    *,
    values: Annotated[
        Path | None,
        typer.Option(
            "--values",
            metavar="FILE",
            help="The answers to its form; without a form, the properties of the object.",
            show_default="ask at the terminal",
        ),
    ] = None,
    class_name: Annotated[
        str | None,
        typer.Option("--class", metavar="NAME", help="An object of this class, not by the form."),
    ] = None,
    object_name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What the object is called.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--form", metavar="FILE", help="Its form, where there are several."),
    ] = None,
    draft: DraftName = None,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Add an application to a draft."""
    from trundle.environments import APPLICATIONS, pinned  # noqa: PLC0415

    whose = tenant_of(tenant)
    secrets: dict[str, str] = {}
    with opened_environments(catalog) as environments:
        snapshot = environments.snapshot(whose)
        chosen = _package(package, snapshot)

        def change(model: "Model") -> "Model":
            made = _object(chosen, snapshot, values, class_name, form, secrets)
            header = {"id": uuid.uuid4().hex, **made["?"]}
            header |= {} if object_name is None else {"name": object_name}
            added = pinned({**made, "?": header}, chosen)
            return {**model, APPLICATIONS: [*model.get(APPLICATIONS, ()), added]}

        made = environments.edit(
            name,
            change,
            tenant=whose,
            draft=draft_of(draft),
            by=user_name(),
            secrets=secrets,
            dry_run=dry_run,
        )
    called = f" as {object_name}" if object_name else ""
    done = f"added {chosen.name} {chosen.version}{called} to the draft"
    print_done(done, _data(name, made), output, dry_run=dry_run)


def _package(named: str, snapshot: "Snapshot") -> "Package":
    """The newest version of a package in a range.

    Raises:
        Refusal: the tenant sees none.
    """
    from trundle.errors import did_you_mean  # noqa: PLC0415
    from trundle.version import ANY, VersionRange  # noqa: PLC0415

    name, _, spec = named.partition("@")
    wanted = VersionRange.parse(spec) if spec else ANY
    known = snapshot.versions(name)
    version = wanted.choose(known)
    if version is None:
        found = f"only {', '.join(map(str, known))}" if known else "no such package"
        near = did_you_mean(name, snapshot.names, "run `trundle catalog list` to see what there is")
        advice = "name another range" if known else near
        expected = f"a package that {snapshot.tenant} sees"
        raise unmet(named, expected, found, advice, ExitCode.NOT_FOUND)
    return snapshot.package(name, version)


def _object(
    package: "Package",
    snapshot: "Snapshot",
    values: Path | None,
    class_name: str | None,
    form: str | None,
    secrets: dict[str, str],
) -> dict[str, Any]:
    """The object to add, by the form of its package, or with the properties in a file."""
    from trundle.cli._forms import filled, form_in  # noqa: PLC0415

    found = None if class_name is not None else form_in(package, form)
    if found is not None:
        hidden = _Hidden(package, secrets)
        return filled(found.form, package, snapshot, values, hidden).model
    given = {} if values is None else read_object(values, "values")
    header = given.get("?")
    name = class_name or _main_class(package)
    return {**given, "?": {_TYPE: name, **(header if isinstance(header, dict) else {})}}


class _Hidden:
    """Keeps answers to questions for passwords as secrets.

    Args:
        package: the package of the form.
        secrets: where they go, by name.
    """

    def __init__(self, package: "Package", secrets: dict[str, str]) -> None:
        self._head = f"{package.name}-{uuid.uuid4().hex[:8]}"
        self._secrets = secrets

    def __call__(self, step: str, field: str, value: str) -> str:
        """What stands in the model for an answer."""
        from trundle.engine.effects import secret_marker  # noqa: PLC0415

        name = f"{self._head}.{step}.{field}"
        self._secrets[name] = value
        return secret_marker(name)


def _main_class(package: "Package") -> str:
    """The class that a package without a form is about.

    Raises:
        Refusal: it has several.
    """
    classes = list(package.classes)
    if package.name in classes:
        return package.name
    if len(classes) == 1:
        return classes[0]
    found = ", ".join(classes) or "none"
    raise unmet("--class", f"one of the classes of {package.name}", found, "name it")


def remove(
    name: Name,
    object_: Annotated[
        str, typer.Argument(metavar="OBJECT", help="The id or the name of an application.")
    ],
    *,
    draft: DraftName = None,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove an application from a draft."""
    from trundle.environments import APPLICATIONS  # noqa: PLC0415

    def change(model: "Model") -> "Model":
        there = model.get(APPLICATIONS, ())
        known = [(each["?"]["id"], each["?"].get("name")) for each in there]
        found = [each for each in known if object_ in each]
        if len(found) != 1:
            text = ", ".join(f"{id_} {called}" if called else id_ for id_, called in known)
            advice = "name one of these"
            code = ExitCode.NOT_FOUND
            raise unmet(object_, f"an application of {name}", text or "none", advice, code)
        return {**model, APPLICATIONS: [x for x in there if x["?"]["id"] != found[0][0]]}

    _edit(
        name,
        change,
        f"removed {object_} from the draft",
        (draft, tenant, catalog),
        output,
        dry_run=dry_run,
    )


def edit(
    name: Name,
    model: Annotated[
        Path,
        typer.Option(
            "--model",
            metavar="FILE",
            help="The model, as `trundle env show --model` prints it, with the changes.",
        ),
    ],
    *,
    draft: DraftName = None,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Replace the model of a draft."""
    given = read_model(model)

    def change(old: "Model") -> "Model":
        header = given.get("?")
        if not isinstance(header, dict) or header.get("id") != old["?"]["id"]:
            expected, found = f"the object {old['?']['id']} of {name}", "another one"
            raise unmet(str(model), expected, found, "keep what stands under `?`")
        return given

    _edit(
        name,
        change,
        "replaced the model of the draft",
        (draft, tenant, catalog),
        output,
        dry_run=dry_run,
    )


def _edit(
    name: str,
    change: "Callable[[Model], Model]",
    done: str,
    where: tuple[str | None, str | None, str | None],
    output: Format,
    *,
    dry_run: bool,
) -> None:
    draft, tenant, catalog = where
    with opened_environments(catalog) as environments:
        made = environments.edit(
            name,
            change,
            tenant=tenant_of(tenant),
            draft=draft_of(draft),
            by=user_name(),
            dry_run=dry_run,
        )
    print_done(done, _data(name, made), output, dry_run=dry_run)


def _data(name: str, draft: "Draft") -> dict[str, Any]:
    return {"environment": name, "draft": draft.name, "base": draft.base, "model": draft.model}


def discard(
    name: Name,
    *,
    draft: DraftName = None,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove a draft."""
    with opened_environments(catalog) as environments:
        chosen = draft_of(draft)
        environments.discard(name, tenant=tenant_of(tenant), draft=chosen, dry_run=dry_run)
    data = {"environment": name, "draft": chosen}
    print_done(f"discarded the draft {chosen}", data, output, dry_run=dry_run)
