"""Settings of providers: they change only as long as they lead to the place where the effects are."""

from collections.abc import Mapping

import msgspec

from trundle.environments._errors import ProviderInUseError
from trundle.environments._records import Environment, Providers
from trundle.environments._rows import Rows

_LEFT_OPEN = {"context": "-", "kubeconfig": None}
"""Settings that leave open which cluster is meant: whichever context is current, in whichever file. A later run may name it."""


def changed_reach(
    rows: Rows, old: Environment, new: Environment, reached: Providers, *, dry_run: bool
) -> Environment:
    """Lets an environment reach something else; a run that has lost its hold does nothing more, as it would act where the environment was.

    Args:
        rows: the rows.
        old: the environment.
        new: the environment with other settings.
        reached: the settings with which it reaches the world now.
        dry_run: whether nothing is written.

    Raises:
        ProviderInUseError: there are effects at the place where a provider is now, and it is to reach another one.
    """
    for each in sorted({record.provider for _, record in rows.effects(old)}):
        if not _is_same_place(reached.get(each), new.providers.get(each)):
            expected = f"the settings of {each} as they are while it has effects"
            advice = "leave its options out, or make another environment"
            raise ProviderInUseError(old.name, expected, "others", advice)
    if dry_run or new == old:
        return new
    changed = msgspec.structs.replace(new, run=old.run + 1)
    rows.put(changed)
    return changed


def _is_same_place(old: Mapping[str, str] | None, new: Mapping[str, str] | None) -> bool:
    """Whether settings of a provider are those that were, or say what these left open; None for no provider."""
    if old is None or new is None:
        return old is new
    open_keys = {key for key, value in _LEFT_OPEN.items() if old.get(key) == value}
    before, after = (
        {key: value for key, value in each.items() if key not in open_keys} for each in (old, new)
    )
    return before == after
