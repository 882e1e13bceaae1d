"""The commands that edit drafts of environments: add, remove, edit, discard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._catalogs import Place, Tenant, tenant_of
from trundle.cli._environments import DraftName, Name, draft_of, opened_environments
from trundle.cli._installing import print_done
from trundle.cli._models import read_model, read_object
from trundle.cli._printing import Format, data_text, harmless, say, warn
from trundle.cli._settings import user_name
from trundle.cli.project import DryRun, Output
from trundle.errors import TrundleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trundle.catalog import Snapshot
    from trundle.environments import Draft, Model
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
    from trundle.environments import adding, chosen_package  # noqa: PLC0415

    whose = tenant_of(tenant)
    with opened_environments(catalog) as environments:
        snapshot = environments.snapshot(whose)
        chosen = chosen_package(snapshot, package)
        asked = _Asked(chosen, snapshot, values, class_name, form)
        made = asked.edited(
            lambda: environments.edit(
                name,
                lambda model: adding(asked.made(), chosen, object_name)(model),  # noqa: PLW0108 - asked for late
                tenant=whose,
                draft=draft_of(draft),
                by=user_name(),
                secrets=asked.hidden.secrets,
                dry_run=dry_run,
            )
        )
    asked.warn_of_left_out(made)
    called = f" as {object_name}" if object_name else ""
    done = f"added {chosen.name} {chosen.version}{called} to the draft"
    print_done(done, {"environment": name} | made.to_plain(), output, dry_run=dry_run)


class _Asked:
    """An object to add, by the form of its package, or with the properties in a file; it is asked for once.

    Args:
        package: the package.
        snapshot: what there is in the catalog.
        values: the file with the answers or properties; None to ask at the terminal.
        class_name: its class, if it is not made by a form.
        form: the file of the form, where there are several.

    Attributes:
        hidden: the passwords among the answers.
    """

    def __init__(
        self,
        package: "Package",
        snapshot: "Snapshot",
        values: Path | None,
        class_name: str | None,
        form: str | None,
    ) -> None:
        from trundle.environments import HiddenAnswers  # noqa: PLC0415

        self.hidden = HiddenAnswers(package)
        self._package, self._snapshot, self._values = package, snapshot, values
        self._class_name, self._form = class_name, form
        self._made: dict[str, Any] | None = None
        self._properties: dict[str, Any] = {}
        self._answers: dict[str, dict[str, Any]] = {}

    def made(self) -> dict[str, Any]:
        """The object."""
        from trundle.environments import check_application  # noqa: PLC0415

        if self._made is None:
            self._made = self._ask()
            check_application(self._made, self._package, self._snapshot)
        return self._made

    def warn_of_left_out(self, draft: "Draft") -> None:
        """Warns of what no property takes of those in the file."""
        from trundle.environments import APPLICATIONS  # noqa: PLC0415

        _warn_of_left_out(self._values, self._properties, draft.model[APPLICATIONS][-1])

    def edited(self, edit: "Callable[[], Draft]") -> "Draft":
        """Edits a draft; beside what others have added meanwhile, and with what a person has answered on standard error if that fails."""
        from trundle.environments import OutdatedDraftError  # noqa: PLC0415

        try:
            try:
                return edit()
            except OutdatedDraftError:
                if self._made is None:
                    raise
                return edit()
        except TrundleError:
            if self._answers:
                say("What was answered, for a file for `--values`; passwords are left out:")
                typer.echo(harmless(data_text(self._answers, "yaml")), err=True, nl=False)
            raise

    def _ask(self) -> dict[str, Any]:
        from trundle.cli._forms import filled, without_passwords  # noqa: PLC0415
        from trundle.environments import object_of  # noqa: PLC0415
        from trundle.forms import form_of_package  # noqa: PLC0415

        found = None if self._class_name is not None else form_of_package(self._package, self._form)
        if found is None:
            properties = {} if self._values is None else read_object(self._values, "values")
            self._properties = properties
            return object_of(self._package, properties, self._class_name)
        done = filled(found.form, self._package, self._snapshot, self._values, self.hidden)
        if self._values is None:
            self._answers = without_passwords(found.form, done.answers)
        return done.model


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
    made = _edit(
        name,
        replacing(name, given, str(model)),
        "replaced the model of the draft",
        (draft, tenant, catalog),
        output,
        dry_run=dry_run,
    )
    _warn_of_left_out(model, given, made.model)


def _warn_of_left_out(file: Path | None, given: "Model", loaded: "Model") -> None:
    from trundle.environments import left_out  # noqa: PLC0415

    for each in left_out(given, loaded):
        warn(f"{file}: {each}")


def _edit(
    name: str,
    change: "Callable[[Model], Model]",
    done: str,
    where: tuple[str | None, str | None, str | None],
    output: Format,
    *,
    dry_run: bool,
) -> "Draft":
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
    print_done(done, {"environment": name} | made.to_plain(), output, dry_run=dry_run)
    return made


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
