"""How versions evolve: lineage, version map, plans and their fusing."""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.evolution._changes import (
        EXACT_CONVERSIONS,
        KEYED_CONVERSIONS,
        SCALAR_CONVERSIONS,
        VERSIONED,
        HookDeclaration,
        HookMethod,
        HookReference,
        NamedConversion,
        TypeChanges,
        spoken_hook,
    )
    from trundle.evolution._defaults import default_of, required_values
    from trundle.evolution._discriminating import fixed_text
    from trundle.evolution._errors import ChangeError
    from trundle.evolution._evolution import Evolution, ResourceLineage
    from trundle.evolution._free_form import doubled_in_free_form
    from trundle.evolution._holders import (
        entries_as_free_form,
        entries_within,
        entries_within_entries,
        outside,
    )
    from trundle.evolution._hooks import (
        converter_names,
        hooks_among,
        named_by_hooks,
        short_type,
        snake,
        spoken_type,
    )
    from trundle.evolution._identity import partition
    from trundle.evolution._keyed import relate_keyed
    from trundle.evolution._labels import Label, declared_label, is_label_key, label_of
    from trundle.evolution._lifting import leads, names_inside, path_of
    from trundle.evolution._lineage import Lineage
    from trundle.evolution._list_keys import derived_keys, list_keys
    from trundle.evolution._long_names import LONGEST, fitting
    from trundle.evolution._neighbours import Neighbours, VersionMap
    from trundle.evolution._one_value import entries_of_one_value
    from trundle.evolution._paths import EACH, Path, PathError, join_path, plain_path, split_path
    from trundle.evolution._planning import plan
    from trundle.evolution._straight import goes_straight
    from trundle.evolution._threads import (
        ADDITIONAL,
        METADATA,
        PRESENCE,
        ByHook,
        Link,
        Place,
        Thread,
    )
    from trundle.evolution._traversal import (
        calls_hook,
        changes_in,
        changes_within,
        expressions_in,
        inner_changes,
        operands,
    )
    from trundle.evolution._values import discriminators
    from trundle.evolution.steps import Plan, PlanKey, Shape

__all__ = [
    "ADDITIONAL",
    "EACH",
    "EXACT_CONVERSIONS",
    "KEYED_CONVERSIONS",
    "LONGEST",
    "METADATA",
    "PRESENCE",
    "SCALAR_CONVERSIONS",
    "VERSIONED",
    "ByHook",
    "ChangeError",
    "Evolution",
    "HookDeclaration",
    "HookMethod",
    "HookReference",
    "Label",
    "Lineage",
    "Link",
    "NamedConversion",
    "Neighbours",
    "Path",
    "PathError",
    "Place",
    "Plan",
    "PlanKey",
    "ResourceLineage",
    "Shape",
    "Thread",
    "TypeChanges",
    "VersionMap",
    "calls_hook",
    "changes_in",
    "changes_within",
    "converter_names",
    "declared_label",
    "default_of",
    "derived_keys",
    "discriminators",
    "doubled_in_free_form",
    "entries_as_free_form",
    "entries_of_one_value",
    "entries_within",
    "entries_within_entries",
    "expressions_in",
    "fitting",
    "fixed_text",
    "goes_straight",
    "hooks_among",
    "inner_changes",
    "is_label_key",
    "join_path",
    "label_of",
    "leads",
    "list_keys",
    "named_by_hooks",
    "names_inside",
    "operands",
    "outside",
    "partition",
    "path_of",
    "plain_path",
    "plan",
    "relate_keyed",
    "required_values",
    "short_type",
    "snake",
    "split_path",
    "spoken_hook",
    "spoken_type",
]

on_demand(__name__)
