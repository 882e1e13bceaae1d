"""Object models as JSON has them: what a form yields is kept, printed and sent as JSON."""

import json
import math
from typing import Any, Final

from trundle.errors import Finding, Place, shown
from trundle.forms._errors import FormCode, FormError

_EXPECTED: Final = "text, a number, true, false, null, a list or a map"
_DIGITS: Final = 4300
"""How many digits Python writes and reads in an integer by default."""
_TOO_LONG: Final = 10**_DIGITS


def plain_model(value: Any, file: str) -> Any:
    """An object model whose keys are text, as JSON spells them.

    Args:
        value: what a form yields.
        file: what messages call the form.

    Raises:
        FormError: it has something that JSON has not, or keys that become the same text; the error has all findings.
    """
    findings: list[Finding] = []
    found = _plain(value, "$", file, findings)
    if findings:
        raise FormError(findings)
    return found


def _plain(value: Any, path: str, file: str, findings: list[Finding]) -> Any:
    match value:
        case list():
            return [_plain(each, f"{path}[{at}]", file, findings) for at, each in enumerate(value)]
        case dict():
            return _plain_map(value, path, file, findings)
        case str() | bool() | None:
            return value
        case int() if abs(value) < _TOO_LONG:
            return value
        case float() if math.isfinite(value):
            return value
    what = _described(value)
    place = Place(file, object="Application", path=path)
    advice = "write a smaller one" if isinstance(value, int) else "convert it, as with `str()`"
    findings.append(Finding(FormCode.MODEL, place, _EXPECTED, what, advice))
    return None


def _described(value: Any) -> str:
    if isinstance(value, int):
        return f"an integer of more than {_DIGITS} digits"
    return shown(value) if isinstance(value, float) else f"a {type(value).__name__}, {shown(value)}"


def _plain_map(
    value: dict[Any, Any], path: str, file: str, findings: list[Finding]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, each in value.items():
        name = key if isinstance(key, str) else json.dumps(_plain(key, path, file, findings))
        if name in found:
            place = Place(file, object="Application", path=path)
            advice = "keys become text, as in JSON: remove one of the two"
            expected, what = "each key once", f"{shown(name)} a second time"
            findings.append(Finding(FormCode.MODEL, place, expected, what, advice))
        found[name] = _plain(each, f"{path}.{name}", file, findings)
    return found
