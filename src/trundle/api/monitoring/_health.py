"""Whether the server lives, and whether it can answer: in the text that Kubernetes' API server has for it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

_PATIENCE = 5.0


class Health:
    """Answers `/livez`, `/readyz` and `/healthz`, also for one check (`/readyz/store`), with `verbose` and `exclude`.

    Args:
        store: reads something from the store; raises where that cannot be done.
        is_stopping: whether the server is about to end.
    """

    def __init__(self, store: Callable[[], Any], is_stopping: Callable[[], bool]) -> None:
        self._store = store
        self._is_stopping = is_stopping

    @property
    def routes(self) -> list[BaseRoute]:
        """Where health is asked for."""
        live = {"ping": self._ping}
        ready = {"ping": self._ping, "store": self._stored, "shutdown": self._goes_on}
        checks = {"livez": live, "readyz": ready, "healthz": ready}
        return [
            route
            for name, each in checks.items()
            for route in (
                Route(f"/{name}", _all(name, each)),
                Route(f"/{name}/{{check}}", _one(each)),
            )
        ]

    async def _ping(self) -> bool:
        return True

    async def _goes_on(self) -> bool:
        return not self._is_stopping()

    async def _stored(self) -> bool:
        try:
            await asyncio.wait_for(asyncio.to_thread(self._store), _PATIENCE)
        except Exception:  # noqa: BLE001 - whatever it is, the store cannot be read
            return False
        return True


def _all(name: str, checks: Mapping[str, Callable[[], Any]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        excluded = set(request.query_params.getlist("exclude"))
        found = {key: key in excluded or await check() for key, check in checks.items()}
        failed = not all(found.values())
        if not failed and "verbose" not in request.query_params:
            return PlainTextResponse("ok")
        lines = [
            f"[+]{key} excluded: ok"
            if key in excluded
            else f"[+]{key} ok"
            if good
            else f"[-]{key} failed: reason withheld"
            for key, good in found.items()
        ]
        text = "\n".join([*lines, f"{name} check {'failed' if failed else 'passed'}\n"])
        return PlainTextResponse(text, 500 if failed else 200)

    return answer


def _one(checks: Mapping[str, Callable[[], Any]]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        check = checks.get(request.path_params["check"])
        if check is None:
            return PlainTextResponse("404 page not found\n", 404)
        good = await check()
        text = "ok" if good else "internal server error: reason withheld\n"
        return PlainTextResponse(text, 200 if good else 500)

    return answer
