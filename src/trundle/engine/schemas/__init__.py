"""Classes as schemas: what models may give to their objects, as a `Schema` and as JSON Schema."""

from trundle.engine.schemas._accepted import class_json_schema
from trundle.engine.schemas._class_schema import OWNED, class_schema, referred_class

__all__ = ["OWNED", "class_json_schema", "class_schema", "referred_class"]
