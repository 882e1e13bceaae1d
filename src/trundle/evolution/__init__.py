"""How versions evolve: lineage, version map, plans and their fusing."""

from trundle.evolution._changes import SCALAR_CONVERSIONS, HookReference, TypeChanges

__all__ = ["SCALAR_CONVERSIONS", "HookReference", "TypeChanges"]
