"""Readers for schemas: JSON Schema, OpenAPI, CRDs, Azure deployment schemas and Python classes."""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.schema.readers._errors import SchemaErrors, raise_all
    from trundle.schema.readers._read import (
        Catalogue,
        Declared,
        Selection,
        detect_format,
        read_schemas,
    )
    from trundle.schema.readers._sources import (
        Format,
        Source,
        is_pattern,
        is_python,
        matching,
        source_files,
    )

__all__ = [
    "Catalogue",
    "Declared",
    "Format",
    "SchemaErrors",
    "Selection",
    "Source",
    "detect_format",
    "is_pattern",
    "is_python",
    "matching",
    "raise_all",
    "read_schemas",
    "source_files",
]

on_demand(__name__)
