"""Classes as schemas: what models may give to their objects, as a `Schema` and as JSON Schema."""

from trundle.engine.schemas._accepted import class_json_schema
from trundle.engine.schemas._class_schema import OWNED, class_schema, referred_class
from trundle.engine.schemas._python_inputs import (
    Constant,
    Entries,
    Items,
    Objects,
    OrNull,
    Plain,
    PythonInput,
    PythonType,
    python_inputs,
)

__all__ = [
    "OWNED",
    "Constant",
    "Entries",
    "Items",
    "Objects",
    "OrNull",
    "Plain",
    "PythonInput",
    "PythonType",
    "class_json_schema",
    "class_schema",
    "python_inputs",
    "referred_class",
]
