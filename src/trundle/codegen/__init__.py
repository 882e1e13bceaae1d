"""Plans and types become Python source: a package of types, storage, conversions and their tests."""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.codegen._blueprint import Blueprint
    from trundle.codegen._hook_names import STATIC_METHODS, StaticCall, static_class
    from trundle.codegen._hook_records import HookRecords, hook_records
    from trundle.codegen._joined import MemberPackage, generate_joined
    from trundle.codegen._layout import lay_out
    from trundle.codegen._live import LiveConversions
    from trundle.codegen._live_hooks import HookKey, PlainHook
    from trundle.codegen._naming import attribute_names, class_name
    from trundle.codegen._package import generate_package
    from trundle.codegen._static_methods import static_methods
    from trundle.codegen._straight import STRAIGHT
    from trundle.codegen._tests import generate_tests, hooked_properties, renamed_properties

__all__ = [
    "STATIC_METHODS",
    "STRAIGHT",
    "Blueprint",
    "HookKey",
    "HookRecords",
    "LiveConversions",
    "MemberPackage",
    "PlainHook",
    "StaticCall",
    "attribute_names",
    "class_name",
    "generate_joined",
    "generate_package",
    "generate_tests",
    "hook_records",
    "hooked_properties",
    "lay_out",
    "renamed_properties",
    "static_class",
    "static_methods",
]

on_demand(__name__)
