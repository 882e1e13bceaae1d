"""What browsers send with forms."""

from urllib.parse import parse_qs

from starlette.requests import Request

from trundle.dashboard._api_client import ApiRefusedError

_LONGEST = 4 * 1024 * 1024
"""How many bytes a form may have: an object of the largest size that the API takes, as browsers write it."""
_MOST_FIELDS = 5000


async def form_of(request: Request, most: int = _LONGEST) -> dict[str, str]:
    """The fields of a form.

    Args:
        request: the request that sends it.
        most: how many bytes it may have.

    Raises:
        ApiRefusedError: it is too long, or no text.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise ApiRefusedError(413, f"The form is longer than {most} bytes.")
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise ApiRefusedError(400, f"The form cannot be read: {error}.") from None
    return {key: values[-1] for key, values in found.items()}
