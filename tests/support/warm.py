"""Runs Python scripts in forks of a process that has imported what most commands need.

Most of what a short command costs is its imports. `script` gives a program that does what the script does, with the
same arguments, environment, folder, standard files, signals and exit code, and costs a tenth. In what `make test-all`
adds, it gives the script itself where a test does not want it otherwise, so that commands start as they do for users.
"""

import array
import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import marshal
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from typer.testing import CliRunner

TRUNDLE = Path(sys.executable).with_name("trundle")
"""The installed command."""

IMPORTED = (
    "alembic.command",
    "httptools",
    "jsonschema_rs",
    "sqlalchemy.dialects.sqlite",
    "trundle.api",
    "trundle.channels.publishing",
    "trundle.cli",
    "trundle.codegen",
    "trundle.dashboard",
    "trundle.environments",
    "trundle.installation",
    "trundle.project",
    "trundle.providers",
    "trundle.registry",
    "trundle.report",
    "typer.rich_utils",
    "uvicorn.protocols.http.httptools_impl",
)
"""What scripts find imported."""

MADE = (
    ("trundle._faces", "complete"),
    ("trundle.api._core", "core_kinds"),
    ("trundle.engine.expressions._yaql", "grammar"),
)
"""Functions whose results scripts find made."""

_SHARED = "TRUNDLE_TESTS_WARM"
"""Names the folder of the process that several processes share."""

_FORWARDED = (int(signal.SIGHUP), int(signal.SIGINT), int(signal.SIGTERM))
"""Signals that reach the script when its client gets them."""

_CLIENT = """\
#!{python} -IS
import _signal, _socket, marshal, os, struct, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
job = marshal.dumps(([{script!r}, *sys.argv[1:]], os.getcwd(), dict(os.environ)))
files = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))]
server.sendmsg([struct.pack("I", len(job))], files)
while job:
    job = job[server.send(job):]
for each in {forwarded}:
    _signal.signal(each, lambda number, _: server.send(struct.pack("I", number)))
for end in (0, 1, 2):
    os.close(end)
code = struct.unpack("i", server.recv(4) or struct.pack("i", 1))[0]
if code < 0:
    if -code in {forwarded}:
        _signal.signal(-code, 0)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def script(
    path: Path = TRUNDLE, under: tuple[str, ...] = (), *, always: bool = False
) -> tuple[str, ...]:
    """The command that runs a Python script.

    Args:
        path: the script.
        under: a command that runs the command that follows, such as `setpriv`.
        always: whether a fork does it in what `make test-all` adds, too; for tests that run many commands to their end.
    """
    import amounts

    if (amounts.ALL and not always) or not hasattr(os, "fork"):
        return (*under, sys.executable, str(path))
    return (str(client(path, under)),)


@functools.cache
def client(path: Path, under: tuple[str, ...] = ()) -> Path:
    """A program that has a fork do what a script does, in `make test-all`, too; its arguments are those of `script`."""
    folder = _started(under)
    program = Path(tempfile.mkdtemp(dir=folder), path.name)
    address = str(folder / "socket")
    program.write_text(
        _CLIENT.format(
            python=sys.executable, address=address, script=str(path), forwarded=_FORWARDED
        )
    )
    program.chmod(0o755)
    return program


def share() -> Callable[[], None]:
    """Has this process and those that it starts share one process that runs scripts; gives what ends it."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    os.mkfifo(folder / "open")
    held = os.open(folder / "open", os.O_RDWR)
    os.environ[_SHARED] = str(folder)

    def end() -> None:
        os.close(held)
        shutil.rmtree(folder, ignore_errors=True)

    return end


@functools.cache
def _started(under: tuple[str, ...]) -> Path:
    """Starts the process, or finds the one that is shared; gives its folder. It ends, and its folder goes, with the tests."""
    if under or _SHARED not in os.environ:
        folder = Path(tempfile.mkdtemp(prefix="warm-"))
        atexit.register(_start(folder, under, subprocess.PIPE).communicate)
        return folder
    shared = Path(os.environ[_SHARED])
    folder = shared / "process"
    with (shared / "lock").open("w") as lock, (shared / "open").open("rb") as held:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            _start(folder, under, held).returncode = 0  # It outlives this worker.
    return folder


def _start(folder: Path, under: tuple[str, ...], stdin: IO[bytes] | int) -> subprocess.Popen[bytes]:
    """Starts the process, which runs until its standard input ends."""
    process = subprocess.Popen(
        [*under, sys.executable, "-I", "-X", "utf8", __file__, folder],
        stdin=stdin,
        stdout=subprocess.PIPE,
        env={key: each for key, each in os.environ.items() if key != "COVERAGE_PROCESS_START"},
    )
    assert process.stdout is not None
    assert process.stdout.read(1), "the process that runs scripts does not start"
    process.stdout.close()
    return process


def _serve(folder: Path) -> list[str]:
    """Forks for each script until the process that started this one ends; each fork returns its arguments."""
    for name in IMPORTED:
        importlib.import_module(name)
    for arguments in (["--help"], ["schema"]):  # Help imports all commands.
        CliRunner().invoke(importlib.import_module("trundle.cli._app").app, arguments)
    for module, function in MADE:
        getattr(importlib.import_module(module), function)()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        listening.listen(64)
        os.write(1, b"+")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        while listening in select.select([listening, 0], [], [])[0]:
            caller, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                return _run(caller)
            caller.close()
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit()


def _run(caller: socket.socket) -> list[str]:
    """Forks once more: one side returns the arguments of the script, the other sends its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, ancillary, _, _ = caller.recvmsg(4, socket.CMSG_SPACE(12))
    with caller.makefile("rb") as stream:
        arguments, folder, environment = marshal.loads(stream.read(int.from_bytes(head, "little")))
    files = array.array("i", ancillary[0][2])
    ended, ending = os.pipe()
    worker = os.fork()
    if worker == 0:
        caller.close()
        os.close(ended)
        os.set_inheritable(ending, False)
        _become(arguments, folder, environment, files)
        return arguments
    os.close(ending)
    for each in (0, 1, 2, *files):
        with contextlib.suppress(OSError):
            os.close(each)
    while caller in select.select([caller, ended], [], [])[0]:
        sent = caller.recv(4)
        os.kill(worker, int.from_bytes(sent, "little") if sent else signal.SIGKILL)
        if not sent:  # The one that waited for it is gone.
            break
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    with contextlib.suppress(OSError):
        caller.send(code.to_bytes(4, "little", signed=True))
    os._exit(0)


def _become(arguments: list[str], folder: str, environment: dict[str, str], files) -> None:
    """Makes this process what a fresh interpreter would be that runs a script."""
    for number, each in enumerate(files):
        os.dup2(each, number)
        os.close(each)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = arguments
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    more = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [str(Path(arguments[0]).parent), *more]
    importlib.invalidate_caches()


if __name__ == "__main__":
    runpy.run_path(_serve(Path(sys.argv[1]))[0], run_name="__main__")
