"""The tenant for whom pages about a catalog are shown."""

from starlette.requests import Request

from trundle.dashboard._api_client import ApiRefusedError

_USUAL = "default"


def tenant_in(request: Request) -> str:
    """The tenant that an address names.

    Raises:
        ApiRefusedError: no tenant can be called so.
    """
    found = request.query_params.get("tenant", "").strip() or _USUAL
    if "/" in found:
        raise ApiRefusedError(400, f"{found!r} is no name of a tenant.")
    return found
