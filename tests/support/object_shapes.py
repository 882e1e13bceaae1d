"""Shapes of whole objects, by the OpenAPI schemas of CRDs."""

from trundle.api.apply._shapes import shape_of, whole


def object_shape(schema):
    """The shape of objects whose CRD has a schema."""
    return whole(shape_of(schema).map)
