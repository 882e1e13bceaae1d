"""The statements of a store, made once: SQLAlchemy compiles each once, and finds it again by what it is."""

from sqlalchemy import (
    ARRAY,
    Text,
    and_,
    any_,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)

from trundle.store import _tables as t

_R, _V = t.RESOURCES.c, t.REVISIONS.c
OBJECT = (
    _V.namespace,
    _V.name,
    _V.uid,
    _V.resource_version,
    _V.generation,
    _V.created,
    _V.deleted,
    _V.written,
    _V.labels,
    _V.finalizers,
    _V.owners,
    _V.storage_version,
    _V.written_with,
    _V.data,
)
CURRENT = _V.replaced.is_(None)
OF = _V.resource == bindparam("of")


RESOURCE = select(*_R).where(_R.api_group == bindparam("group_"), _R.name == bindparam("name_"))
RESOURCE_LOCKED = RESOURCE.with_for_update()
COUNT = (
    update(t.RESOURCES)
    .where(_R.id == bindparam("of"))
    .values(resource_version=bindparam("last"), written=bindparam("time"))
)
SET_COMPACTED = (
    update(t.RESOURCES).where(_R.id == bindparam("of")).values(compacted=bindparam("up_to"))
)
_RANGE = and_(OF, _V.resource_version > bindparam("after"))
_UP_TO = and_(_RANGE, _V.resource_version <= bindparam("up_to"))
FORGET = (
    delete(t.REVISIONS).where(
        OF, _V.resource_version.in_(select(_V.previous).where(_UP_TO, _V.previous.is_not(None)))
    ),
    delete(t.REVISIONS).where(_UP_TO, _V.replaced == _V.resource_version),
)
WRITTEN_UNTIL = select(func.max(_V.resource_version)).where(_RANGE, _V.written <= bindparam("time"))
_OTHER_VERSION = and_(_RANGE, _V.storage_version != bindparam("version"))
UNROLLED = (
    select(*OBJECT)
    .where(_OTHER_VERSION, _V.resource_version <= bindparam("up_to"))
    .order_by(_V.resource_version)
    .limit(bindparam("most"))
)
SPAN_UNROLLED = select(
    func.count(), func.min(_V.resource_version), func.max(_V.resource_version)
).where(_OTHER_VERSION)
REWRITE = (
    update(t.REVISIONS)
    .where(OF, _V.resource_version == bindparam("number"))
    .values(
        storage_version=bindparam("new_version"),
        labels=bindparam("new_labels"),
        data=bindparam("new_data"),
    )
)
ADD = insert(t.REVISIONS)
KEPT = select(
    _V.resource,
    _V.storage_version,
    CURRENT.label("current"),
    func.count(),
    func.sum(func.length(_V.data)),
).group_by(_V.resource, _V.storage_version, CURRENT)
COUNTED = (
    select(_V.resource, _V.storage_version, func.count())
    .where(CURRENT)
    .group_by(_V.resource, _V.storage_version)
)
ONE = select(*OBJECT).where(
    OF, _V.namespace == bindparam("namespace_"), _V.name == bindparam("name_"), CURRENT
)
SOME = select(*OBJECT).where(
    OF,
    _V.namespace == bindparam("namespace_"),
    _V.name == any_(bindparam("names", type_=ARRAY(Text))),
    CURRENT,
)
"""Objects of some names; only servers know arrays."""
ALL = select(*OBJECT).where(OF, CURRENT).order_by(_V.namespace, _V.name)
_NUMBERED = (
    select(
        _V.namespace,
        _V.name,
        func.row_number().over(order_by=(_V.namespace, _V.name)).label("number"),
    )
    .where(OF, CURRENT)
    .subquery()
)
EVERY = (
    select(_NUMBERED.c.namespace, _NUMBERED.c.name)
    .where(_NUMBERED.c.number % bindparam("size") == 0)
    .order_by(_NUMBERED.c.number)
)
OWNED = select(*OBJECT).where(OF, CURRENT, text("owners <> '[]'")).order_by(_V.namespace, _V.name)
UNSETTLED = (
    select(*OBJECT)
    .where(OF, CURRENT, text("(owners <> '[]' OR deleted IS NOT NULL)"))
    .order_by(_V.namespace, _V.name)
)
NAMESPACES = select(_V.namespace).where(OF, CURRENT).distinct()
OWNED_ON_SERVER = "owners @> jsonb_build_array(CAST(:owner AS text))"
OWNED_IN_FILE = "EXISTS (SELECT 1 FROM json_each(owners) WHERE value = :owner)"
AT = select(*OBJECT).where(OF, _V.resource_version.in_(bindparam("versions", expanding=True)))
CHANGES = (
    select(*OBJECT, _V.change, _V.previous)
    .where(OF, _V.resource_version > bindparam("after"))
    .order_by(_V.resource_version)
    .limit(bindparam("most"))
)
UNSETTLING = CHANGES.where(text("(change = 'deleted' OR owners <> '[]' OR deleted IS NOT NULL)"))
REPLACE = (
    update(t.REVISIONS)
    .where(OF, _V.resource_version == bindparam("version"))
    .values(replaced=bindparam("by"))
)
