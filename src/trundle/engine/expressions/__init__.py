"""Expressions of the package language: which scalars are expressions, and what they yield.

They are read by yaql's parser; its trees become nested closures once. What is not compiled goes to yaql's evaluator.
"""

from trundle.engine.expressions._code import Code, Listing, Mapped, Scalar, code_of, read_code
from trundle.engine.expressions._expression import Expression, is_expression
from trundle.engine.expressions._format import Format

__all__ = [
    "Code",
    "Expression",
    "Format",
    "Listing",
    "Mapped",
    "Scalar",
    "code_of",
    "is_expression",
    "read_code",
]
