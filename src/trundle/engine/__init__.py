"""Classes of packages in many versions side by side, their objects, contracts, expressions and methods.

The room reads what packages and models say, and takes and returns values: no files and no network. The clock is asked only by
code that sleeps.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.engine._check import check, check_alone
    from trundle.engine._core import core_packages
    from trundle.engine._declared import required_packages
    from trundle.engine._engine import Engine, PackageVersion
    from trundle.engine._errors import EngineCode, EngineError, Frame
    from trundle.engine._explain import (
        Explained,
        Reason,
        explain,
        explanation_data,
        explanation_mermaid,
        explanation_rows,
    )
    from trundle.engine._first_use import prepare_classes
    from trundle.engine._handle import Handle
    from trundle.engine._header import HEADER, Header, read_header
    from trundle.engine._limits import Limits
    from trundle.engine._natives import native
    from trundle.engine._outline import (
        ClassOutline,
        Inherited,
        MethodOutline,
        ValueOutline,
        outline,
    )
    from trundle.engine._picture import explanation_svg
    from trundle.engine._session import Session
    from trundle.engine._type import Method, Property, Type
    from trundle.engine.running import Branch, CallTrace, Coverage, WatchedCall, Watcher, watching
    from trundle.engine.schemas import referred_class

__all__ = [
    "HEADER",
    "Branch",
    "CallTrace",
    "ClassOutline",
    "Coverage",
    "Engine",
    "EngineCode",
    "EngineError",
    "Explained",
    "Frame",
    "Handle",
    "Header",
    "Inherited",
    "Limits",
    "Method",
    "MethodOutline",
    "PackageVersion",
    "Property",
    "Reason",
    "Session",
    "Type",
    "ValueOutline",
    "WatchedCall",
    "Watcher",
    "check",
    "check_alone",
    "core_packages",
    "explain",
    "explanation_data",
    "explanation_mermaid",
    "explanation_rows",
    "explanation_svg",
    "native",
    "outline",
    "prepare_classes",
    "read_header",
    "referred_class",
    "required_packages",
    "watching",
]

on_demand(__name__)
