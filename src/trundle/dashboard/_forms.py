"""What browsers send with forms."""

from urllib.parse import parse_qs

from starlette.requests import Request

_LONGEST = 4 * 1024 * 1024
"""How many bytes a form may have: an object of the largest size that the API takes, as browsers write it."""


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; nothing of one that is too long or is no text."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST:
            return {}
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}
    return {key: values[-1] for key, values in found.items()}
