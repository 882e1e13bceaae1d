"""Readers for schemas: JSON Schema, OpenAPI, CRDs, Azure deployment schemas and Python classes."""

from trundle.schema.readers._errors import SchemaErrors
from trundle.schema.readers._read import Format, Source, detect_format, read_schemas

__all__ = ["Format", "SchemaErrors", "Source", "detect_format", "read_schemas"]
