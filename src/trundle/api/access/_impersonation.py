"""Acting as another user: the headers of `kubectl --as`, each checked by the rules."""

from collections.abc import Callable, Iterable
from urllib.parse import unquote

from trundle.api._status import bad_request
from trundle.api.access._attributes import Attributes
from trundle.api.access._refusals import forbidden
from trundle.api.access._rules import Decision
from trundle.api.access._users import (
    User,
    groups_of_service_account,
    service_account,
    with_default_group,
)

_EXTRA = "impersonate-extra-"
_GROUP = "authentication.k8s.io"


def impersonated(
    user: User,
    headers: Iterable[tuple[bytes, bytes]],
    decide: Callable[[User, Attributes], Decision],
) -> User | None:
    """The user that a request is made as; None where it is made as the one who asks.

    Args:
        user: who asks.
        headers: the headers of the request.
        decide: whether a user may do something.

    Raises:
        ApiError: the user may not act as this other one, or the headers name none.
    """
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, tuple[str, ...]] = {}
    for raw_key, raw_value in headers:
        if not raw_key.startswith(b"impersonate-"):
            continue
        key, value = raw_key.decode("latin-1"), raw_value.decode("latin-1")
        if key == "impersonate-user":
            name = name or value
        elif key == "impersonate-uid":
            uid = uid or value
        elif key == "impersonate-group":
            groups.append(value)
        elif key.startswith(_EXTRA):
            called = unquote(key.removeprefix(_EXTRA))
            extra[called] = (*extra.get(called, ()), value)
    if not name:
        if uid or groups or extra:
            raise bad_request("requested groups, uid or extra without impersonating a user name")
        return None
    asked: list[Attributes] = []
    account = service_account(name)
    if account is not None:
        namespace, short = account
        asked.append(_acting("serviceaccounts", short, namespace=namespace))
        groups_of_account = groups_of_service_account(namespace)
    else:
        asked.append(_acting("users", name))
        groups_of_account = ()
    if uid:
        asked.append(_acting("uids", uid, _GROUP))
    asked += (_acting("groups", each) for each in groups)
    asked += (
        _acting("userextras", value, _GROUP, subresource=key)
        for key, values in extra.items()
        for value in values
    )
    for each in asked:
        decision = decide(user, each)
        if not decision.allowed:
            raise forbidden(user, each, decision.reason)
    return with_default_group(User(name, uid, tuple(groups) or groups_of_account, extra))


def _acting(
    resource: str, name: str, group: str = "", *, namespace: str = "", subresource: str = ""
) -> Attributes:
    version = "v1"
    return Attributes(
        "impersonate", "", True, group, version, resource, subresource, namespace, name
    )
