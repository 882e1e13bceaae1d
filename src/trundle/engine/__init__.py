"""Classes of packages in many versions side by side, their objects, contracts and expressions.

The room reads what packages and models say, and takes and returns values: no files, no network, no clock.
"""

from trundle.engine._errors import EngineCode, EngineError

__all__ = ["EngineCode", "EngineError"]
