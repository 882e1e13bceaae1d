"""Changes an image layout in a process of its own, and dies at one of its system calls.

Arguments: the folder, the number of the call before which it dies, counted from 1, and how: `kill` without any last
words, or an error number as of a full disk. It exits with 0 when it came to an end before that call, with 1 after a
`StorageError`, and with 3 when the failure did not matter.
"""

import os
import sys
from pathlib import Path

from artifacts import push

from trundle.registry import DirectoryRegistry, StorageError, describe

CALLS = ("open", "write", "fsync", "replace", "mkdir", "unlink", "utime", "ftruncate")


done = []


def failing(step: int, how: str) -> None:
    """Makes one of the calls that write fail."""

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


def main(folder: str, step: str, how: str) -> None:
    repository = DirectoryRegistry(Path(folder)).repository("acme/crm")
    file = Path(folder).with_name("layer")
    file.write_bytes(b"from a file")
    failing(int(step), how)
    try:
        new = push(repository, b"new", tag="stable")
        push(repository, b"signature", subject=new)
        repository.put_blob(file, describe(b"from a file", "x"))
        repository.set_tag("2.0.0", new.digest, expected=None)
        repository.remove_tag("1.0.0")
    except StorageError as error:
        sys.stderr.write(str(error))
        sys.exit(1)
    sys.exit(0 if len(done) < int(step) else 3)


if __name__ == "__main__":
    main(*sys.argv[1:])
