"""Expressions of the package language: which scalars are expressions, and what they yield.

They are read by yaql's parser; its trees become nested closures once. What is not compiled goes to yaql's evaluator.
"""

from trundle.engine.expressions._calls import Closure
from trundle.engine.expressions._code import (
    Code,
    Listing,
    Mapped,
    Scalar,
    code_of,
    line_of,
    read_code,
)
from trundle.engine.expressions._compile import Compiler, Dialect
from trundle.engine.expressions._decorated import Decorated, Edge, ForeignFunction, decorated
from trundle.engine.expressions._expression import Expression, is_expression
from trundle.engine.expressions._failures import explained, located, name_of
from trundle.engine.expressions._failures import reason as failure
from trundle.engine.expressions._foreseen import check_arguments, doomed_calls
from trundle.engine.expressions._format import Format
from trundle.engine.expressions._invoking import Method
from trundle.engine.expressions._languages import call_by_name, evaluator, language_for
from trundle.engine.expressions._library import format_text
from trundle.engine.expressions._nowhere import Nowhere
from trundle.engine.expressions._patterns import Pattern, pattern
from trundle.engine.expressions._scope import SCENE, Scope, context_of
from trundle.engine.expressions._sizes import as_key, as_text, check_size, check_text
from trundle.engine.expressions._spelled import spelled
from trundle.engine.expressions._tree import (
    Binary,
    Call,
    Constant,
    Group,
    Index,
    ListOf,
    MapOf,
    Omitted,
    Rule,
    Tree,
    Unary,
    Variable,
    Word,
    children,
    class_name,
    dotted_name,
)
from trundle.engine.expressions._values import freeze, is_sequence, map_with, thaw
from trundle.engine.expressions._yaql import Added, FrozenDict, Language

__all__ = [
    "SCENE",
    "Added",
    "Binary",
    "Call",
    "Closure",
    "Code",
    "Compiler",
    "Constant",
    "Decorated",
    "Dialect",
    "Edge",
    "Expression",
    "ForeignFunction",
    "Format",
    "FrozenDict",
    "Group",
    "Index",
    "Language",
    "ListOf",
    "Listing",
    "MapOf",
    "Mapped",
    "Method",
    "Nowhere",
    "Omitted",
    "Pattern",
    "Rule",
    "Scalar",
    "Scope",
    "Tree",
    "Unary",
    "Variable",
    "Word",
    "as_key",
    "as_text",
    "call_by_name",
    "check_arguments",
    "check_size",
    "check_text",
    "children",
    "class_name",
    "code_of",
    "context_of",
    "decorated",
    "doomed_calls",
    "dotted_name",
    "evaluator",
    "explained",
    "failure",
    "format_text",
    "freeze",
    "is_expression",
    "is_sequence",
    "language_for",
    "line_of",
    "located",
    "map_with",
    "name_of",
    "pattern",
    "read_code",
    "spelled",
    "thaw",
]
