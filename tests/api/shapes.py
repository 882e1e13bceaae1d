"""Shapes as plain data."""


def plain(shape, seen=()):
    """A shape as plain data, in which what contains itself is said once."""
    if shape is None or shape in seen:
        return shape and "again"
    inner = (*seen, shape)
    listed = shape.list and (shape.list.kind, shape.list.keys, plain(shape.list.items, inner))
    mapped = shape.map and (
        {name: plain(each, inner) for name, each in sorted(shape.map.fields.items())},
        plain(shape.map.others, inner),
        shape.map.atomic,
    )
    return shape.scalar, listed, mapped, shape.default
