"""The bodies of requests."""

from starlette.requests import Request as HttpRequest

from trundle.api._status import ApiError


async def body_of(http: HttpRequest, most: int) -> bytes:
    """The body of a request, if it is not too large.

    Args:
        http: the request.
        most: how many bytes it may have.

    Raises:
        ApiError: it is.
    """
    if "content-length" not in http.headers and "transfer-encoding" not in http.headers:
        return b""
    found = bytearray()
    async for chunk in http.stream():
        found += chunk
        if len(found) > most:
            message = f"Request entity too large: limit is {most}"
            raise ApiError(413, "RequestEntityTooLarge", message)
    return bytes(found)
