"""Work in processes of its own, which may die at any moment."""

import os


def in_child(work):
    """Runs `work` in a process of its own, which shares no connection; gives its id."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        code = work() or 0
    finally:
        os._exit(code)


def ended(child):
    """Waits for a process; how it ended."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
