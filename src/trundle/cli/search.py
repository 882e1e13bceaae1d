"""The commands that show what there is: search, outdated."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import EXIT_CODES, CommandExit, ExitCode, unmet
from trundle.cli._installing import AnyName, State, opened, say_if_forgotten
from trundle.cli._printing import Format, print_result, say, table, warn
from trundle.cli._registry import is_registry
from trundle.cli._settings import REGISTRY, current
from trundle.cli.project import Output

if TYPE_CHECKING:
    from trundle.channels import UpgradePlan
    from trundle.channels.reading import FoundChannel


def search(
    registry: Annotated[
        str | None,
        typer.Argument(
            metavar="REGISTRY",
            help=f"The registry: `HOST`, or `oci:DIR` for a folder; by default the one that `{REGISTRY}` or the user's "
            "settings name.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words to find in names and descriptions."),
    ] = None,
    *,
    output: Output = Format.TABLE,
) -> None:
    """Find packages in a registry, without verifying their channels."""
    from trundle.channels.reading import search as run  # noqa: PLC0415
    from trundle.registry import open_registry  # noqa: PLC0415

    default = current().registry
    if default and registry and not is_registry(registry):
        registry, words = default, [registry, *(words or ())]
    registry = registry or default
    if not registry:
        raise unmet("REGISTRY", "a registry", "none", f"name one, or set {REGISTRY}")
    folder = registry.removeprefix("oci:")
    if registry != folder and not Path(folder).is_dir():
        expected, advice = "a folder with repositories", "correct its name"
        raise unmet(registry, expected, "no such folder", advice, ExitCode.NOT_FOUND)
    wanted = " ".join(words or ())
    found = list(run(open_registry(registry), wanted))
    print_result(
        lambda: [each.to_plain() for each in found],
        lambda: table(
            ("PACKAGE", "CHANNEL", "LATEST", "REPOSITORY", "DESCRIPTION"),
            [_offer_row(each) for each in found],
        ),
        output,
    )
    if not found:
        say(f"{registry}: no channel found{f' with {wanted}' if wanted else ''}")


def outdated(name: AnyName = None, *, state: State = None, output: Output = Format.TABLE) -> None:
    """List installed packages whose channels have a newer version."""
    from trundle.channels import refusal_kind  # noqa: PLC0415
    from trundle.installation import foresee  # noqa: PLC0415

    with opened(state, "Looking", looking=True) as installation:
        say_if_forgotten(installation)
        plans = [each.plan for each in foresee(installation, None if name is None else [name])]
    late = [each for each in plans if each.news]
    colours = {each.package: _late_colour(each) for each in late}
    print_result(
        lambda: [each.news_to_plain() for each in late],
        lambda: table(
            ("PACKAGE", "INSTALLED", "LATEST", "NOW", "CHANGES"), [_late_row(each) for each in late]
        ),
        output,
        colour=lambda line: colours.get(line.partition(" ")[0]),
    )
    refusals = [refusal for each in plans for refusal in each.refusals]
    for each in refusals:
        warn(each.coded)
    if refusals:
        raise CommandExit(EXIT_CODES[refusal_kind(refusals)])
    if late:
        raise CommandExit(ExitCode.UPDATE_AVAILABLE)


def _offer_row(offer: "FoundChannel") -> tuple[str, ...]:
    data = offer.to_plain()
    return tuple(
        str(data[key]) or "-"
        for key in ("package", "channel", "latest", "repository", "description")
    )


def _late_colour(plan: "UpgradePlan") -> str:
    """The colour of a package that has a newer version: what is urgent, what can be done now, and what waits."""
    data = plan.news_to_plain()
    if data["critical"]:
        return typer.colors.RED
    return typer.colors.GREEN if data["target"] else typer.colors.YELLOW


def _late_row(plan: "UpgradePlan") -> tuple[str, ...]:
    data = plan.news_to_plain()
    count = sum(len(each["changes"]) for each in data["changes"])
    text = f"{count}, some critical" if data["critical"] else str(count)
    return (plan.package, data["installed"], data["latest"], data["target"] or "-", text)
