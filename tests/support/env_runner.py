"""Deploys an environment with many documents, and says when it begins; run as a program, to be killed.

`env_runner.py URL FOLDER`
"""

import sys
from pathlib import Path

from kept import Kept

from trundle.engine import EngineError
from trundle.environments import EnvironmentsError

kept = Kept(sys.argv[1], Path(sys.argv[2]), packages=())
print("begun", flush=True)  # noqa: T201
try:
    kept.deploy()
except (EnvironmentsError, EngineError) as error:
    print(type(error).__name__)  # noqa: T201
else:
    print("deployed")  # noqa: T201
