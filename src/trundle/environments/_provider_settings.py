"""Whether the settings of a provider lead to the place where its effects are."""

from collections.abc import Mapping

_LEFT_OPEN = {"context": "-", "kubeconfig": None}
"""Settings that leave open which cluster is meant: whichever context is current, in whichever file. A later run may name it."""


def is_same_place(old: Mapping[str, str] | None, new: Mapping[str, str] | None) -> bool:
    """Whether settings of a provider are those that were, or say what these left open; None for no provider."""
    if old is None or new is None:
        return old is new
    open_keys = {key for key, value in _LEFT_OPEN.items() if old.get(key) == value}
    before, after = (
        {key: value for key, value in each.items() if key not in open_keys} for each in (old, new)
    )
    return before == after
