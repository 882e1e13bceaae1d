"""Changes copies of an image layout in processes of their own, each of which ends at another system call.

Arguments: the folder to copy or `-`, a folder for the copies, and how they end: `kill` without any last words, or
an error number as of a full disk. The copy `N/packages` belongs to the process that ended at its N-th call; its exit
code is in `N/code`, what it said in `N/message`. A process exits with 0 when it came to an end before that call, and
is the last one; with 1 after a `StorageError`, and with 3 when the failure did not matter.
"""

import os
import shutil
import sys
from pathlib import Path

from artifacts import push

from trundle.registry import DirectoryRegistry, StorageError, describe

CALLS = ("open", "write", "fsync", "replace", "mkdir", "unlink", "utime", "ftruncate")


def failing(step: int, how: str) -> list[str]:
    """Makes one of the calls that write fail; gives the calls so far."""
    done: list[str] = []

    def before(name, function):
        def call(*arguments, **further):
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                return function(*arguments, **further)
            done.append(name)
            if len(done) == step:
                if how == "kill":
                    os._exit(9)
                raise OSError(int(how), os.strerror(int(how)))
            return function(*arguments, **further)

        return call

    for name in CALLS:
        setattr(os, name, before(name, getattr(os, name)))
    return done


def change(folder: Path, step: int, how: str) -> tuple[int, str]:
    """All kinds of changes; gives the exit code and what there is to say."""
    repository = DirectoryRegistry(folder).repository("acme/crm")
    file = folder.with_name("layer")
    file.write_bytes(b"from a file")
    done = failing(step, how)
    try:
        new = push(repository, b"new", tag="stable")
        push(repository, b"signature", subject=new)
        repository.put_blob(file, describe(b"from a file", "x"))
        repository.set_tag("2.0.0", new.digest, expected=None)
        if "1.0.0" in repository.tags():
            repository.remove_tag("1.0.0")
    except StorageError as error:
        return 1, str(error)
    return (0 if len(done) < step else 3), ""


def run(template: str, folder: Path, step: int, how: str) -> int:
    """One process; gives its exit code."""
    folder.mkdir()
    if template != "-":
        shutil.copytree(template, folder / "packages")
    child = os.fork()
    if child == 0:
        code, message = 2, "another error"
        try:
            with (folder / "message").open("w") as output:
                code, message = change(folder / "packages", step, how)
                output.write(message)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    (folder / "code").write_text(str(code))
    return code


if __name__ == "__main__":
    step = 1
    while run(sys.argv[1], Path(sys.argv[2]) / str(step), step, sys.argv[3]) != 0:
        step += 1
