"""The page Storage: what is stored in which version, what cannot be converted and why, and rolling."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._api_client import ApiRefusedError
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import Frame
from trundle.dashboard._work import Task, Work
from trundle.errors import expectation
from trundle.store import Store, counted, status

_TASKS: tuple[Task, ...] = ("check", "try", "roll")


class Storage:
    """Answers what is asked about storage.

    Args:
        store: keeps the objects.
        frame: makes pages.
    """

    def __init__(self, store: Store, frame: Frame) -> None:
        self._store = store
        self._frame = frame
        self._work = Work(store)

    async def shown(self, request: Request) -> Response:
        """Objects by storage version, and how far what is being done is; with `sizes` what takes reading all of them, too."""
        # In this order: work that has ended is in what is counted after it.
        progress = await run_in_threadpool(lambda: self._work.progress)
        sizes = "sizes" in request.query_params
        found = await run_in_threadpool(status if sizes else counted, self._store)
        values = {"status": found, "sizes": sizes, "progress": progress}
        return self._frame.shown(request, "storage.html", values)

    async def changed(self, request: Request) -> Response:
        """Starts what a user asks for, or stops what is being done."""
        wanted = (await form_of(request)).get("do", "")
        if wanted == "stop":
            await run_in_threadpool(self._work.stop)
            return self._frame.redirect(request, "/ui/storage")
        for each in _TASKS:
            if each == wanted:
                await run_in_threadpool(self._work.start, each)
                return self._frame.redirect(request, "/ui/storage")
        known = ", ".join((*_TASKS, "stop"))
        raise ApiRefusedError(400, expectation(f"one of {known}", repr(wanted)))
