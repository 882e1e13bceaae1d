"""The `trundle` command, which ends without any tidying before its n-th write; run as a program.

A write is a change of a file or database, or a request that changes something elsewhere. `DIES_AT` is n, and a file that `DEATHS` names
gets a byte when it dies.
"""

import os
import sys

import httpcore2
from dying import Death

from trundle.__main__ import main


class Dying(Death):
    """Requests count as well, and the death is noted."""

    def __init__(self) -> None:
        self._note = os.open(os.environ["DEATHS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        ask = httpcore2.ConnectionPool.handle_request

        def asked(pool, request):
            if request.method not in {b"GET", b"HEAD"}:
                self.step()
            return ask(pool, request)

        httpcore2.ConnectionPool.handle_request = asked
        super().__init__(int(os.environ["DIES_AT"]))

    def step(self) -> None:
        if self.left == 0:
            os.write(self._note, b"+")
        super().step()


if __name__ == "__main__":
    sys.argv[0] = "trundle"
    Dying()
    main()
