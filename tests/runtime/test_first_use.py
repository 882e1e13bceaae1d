"""Structures that several threads use for the first time at the same moment."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, types
import msgspec
from trundle.runtime import prepare_types

sys.setswitchinterval(1e-7)
TEXT = "import msgspec\\n" + "".join(
    f"class C{number}(msgspec.Struct):\\n    a: int = 0\\n    b: 'list[C{(number + 1) % 20}] | None' = None\\n"
    for number in range(20)
)
DATA = b'{"a": 1, "b": [{"a": 2, "b": [{"a": 1}]}]}'
for round in range(150):
    module = types.ModuleType(f"module{round}")
    sys.modules[module.__name__] = module
    exec(TEXT, module.__dict__)
    if sys.argv[1:]:
        prepare_types()
    barrier = threading.Barrier(4)

    def decode():
        barrier.wait()
        assert msgspec.json.decode(DATA, type=module.C0).b[0].a == 2

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    del sys.modules[module.__name__]
"""


@pytest.mark.full
def test_what_is_prepared_may_be_used_by_several_threads_at_once():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "prepared"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == ""
