"""The commands that edit drafts of environments: add, remove, edit, discard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from trundle.cli._catalogs import Place, Tenant, tenant_of
from trundle.cli._environments import DraftName, Name, draft_of, opened_environments
from trundle.cli._installing import print_done
from trundle.cli._models import read_model, read_object
from trundle.cli._printing import Format, data_text, harmless, say
from trundle.cli._settings import user_name
from trundle.cli.project import DryRun, Output
from trundle.errors import TrundleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trundle.catalog import Snapshot
    from trundle.environments import Draft, HiddenAnswers, Model
    from trundle.packages import Package


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
    from trundle.environments import (  # noqa: PLC0415
        HiddenAnswers,
        OutdatedDraftError,
        adding,
        check_application,
        chosen_package,
    )

    whose = tenant_of(tenant)
    with opened_environments(catalog) as environments:
        snapshot = environments.snapshot(whose)
        chosen = chosen_package(snapshot, package)
        hidden = HiddenAnswers(chosen)
        given: list[_Given] = []  # What is asked is asked once

        def change(model: "Model") -> "Model":
            if not given:
                given.append(_given(chosen, snapshot, values, class_name, form, hidden))
                check_application(given[0].made, chosen, snapshot)
            return adding(given[0].made, chosen, object_name)(model)

        def edited() -> "Draft":
            return environments.edit(
                name,
                change,
                tenant=whose,
                draft=draft_of(draft),
                by=user_name(),
                secrets=hidden.secrets,
                dry_run=dry_run,
            )

        try:
            try:
                made = edited()
            except OutdatedDraftError:
                if not given:
                    raise
                made = edited()  # An application goes beside what others have added meanwhile
        except TrundleError:
            if given and given[0].answers:
                say("What was answered, for a file for `--values`; passwords are left out:")
                typer.echo(harmless(data_text(given[0].answers, "yaml")), err=True, nl=False)
            raise
    called = f" as {object_name}" if object_name else ""
    done = f"added {chosen.name} {chosen.version}{called} to the draft"
    print_done(done, _data(name, made), output, dry_run=dry_run)


class _Given(NamedTuple):
    """An object to add.

    Attributes:
        made: the object.
        answers: what a person has answered at the terminal, without passwords; empty where none was asked.
    """

    made: dict[str, Any]
    answers: dict[str, dict[str, Any]]


def _given(
    package: "Package",
    snapshot: "Snapshot",
    values: Path | None,
    class_name: str | None,
    form: str | None,
    hidden: "HiddenAnswers",
) -> _Given:
    """The object to add, by the form of its package, or with the properties in a file."""
    from trundle.cli._forms import filled, without_passwords  # noqa: PLC0415
    from trundle.environments import object_of  # noqa: PLC0415
    from trundle.forms import form_of_package  # noqa: PLC0415

    found = None if class_name is not None else form_of_package(package, form)
    if found is None:
        properties = {} if values is None else read_object(values, "values")
        return _Given(object_of(package, properties, class_name), {})
    done = filled(found.form, package, snapshot, values, hidden)
    answers = {} if values is not None else without_passwords(found.form, done.answers)
    return _Given(done.model, answers)


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
    from trundle.environments import removing  # noqa: PLC0415

    _edit(
        name,
        removing(name, object_),
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
    from trundle.environments import replacing  # noqa: PLC0415

    given = read_model(model)
    _edit(
        name,
        replacing(name, given, str(model)),
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
