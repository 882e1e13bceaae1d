"""What the expressions of a form name and call that is not there: found before anything is asked."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from trundle.engine import EngineError
from trundle.engine.expressions import (
    Binary,
    Call,
    Code,
    Constant,
    Expression,
    Index,
    Listing,
    Mapped,
    Rule,
    Scalar,
    Tree,
    Variable,
    Word,
    children,
    doomed_calls,
    language_for,
)
from trundle.errors import Finding, Place, did_you_mean, expectation
from trundle.forms._errors import FormCode
from trundle.forms._evaluation import LEGACY, Evaluation
from trundle.forms._findings import text_of
from trundle.forms._model import Form
from trundle.forms._settling import checks_of

_INDEX = "index"
_PROSE = (
    "label",
    "description",
    "description_title",
    "help_text",
    "error_messages",
    "choices",
    "regexp_validator",
)
_BINDING = ("let", "unpack", "as", "def", "with")


class _Part(NamedTuple):
    """A part of a form.

    Attributes:
        code: the part.
        has_answers: whether `$` is all answers there, rather than one.
        has_templates: whether templates can be used there.
        place: where it is said to be.
        is_prose: whether it is for people to read, or a pattern, so that a `$` says nothing.
    """

    code: Code
    has_answers: bool = True
    has_templates: bool = False
    place: str = ""
    is_prose: bool = False


_MOST_COMPARED = 100_000
"""With how many names those of a form are compared, about a second long, to suggest what was meant."""


def foreseen(form: Form) -> Iterator[Finding]:
    """What is wrong with the expressions of a form that can be read.

    Calls that fail whatever is answered are errors. Names of what there is not are null, and warnings; so is text that looks like an expression.
    """
    suggestions = _Suggestions()
    for part in _parts(form):
        yield from _unread(form, part)
        for expression in _expressions(part.code):
            try:
                errors = [
                    *doomed_calls(expression, LEGACY, Evaluation.signatures, has_objects=False)
                ]
            except EngineError:  # It cannot be read, which is found by itself
                continue
            for error in errors:
                place = Place(form.file, expression.place.line, part.place)
                yield Finding(error.code, place, "", error.message, error.advice)
            yield from _Names(form, part, expression, suggestions).unknown()


def _parts(form: Form) -> Iterator[_Part]:
    """The parts of a form with what can be used in each."""
    for name, code in form.parameters.items():
        yield _Part(code, place=f"Parameters.{name}")
    for step in form.steps:
        for field in step.fields:
            for name, code in field.attributes.items():
                if name == "validators":
                    for check in checks_of(code):
                        if isinstance(check.rule, Expression):
                            yield _Part(check.rule, has_answers=False, place=field.place.object)
                else:
                    yield _Part(code, place=field.place.object, is_prose=name in _PROSE)
        for check in step.checks:
            if isinstance(check.rule, Expression):
                yield _Part(check.rule, place=step.name)
    for name, code in form.templates.items():
        yield _Part(code, has_templates=True, place=f"Templates.{name}")
    yield _Part(form.application, has_templates=True, place="Application")


def _unread(form: Form, part: _Part) -> Iterator[Finding]:
    """What looks like an expression, but is none, so that it is text."""
    if part.is_prose:
        return
    for each in _texts(part.code):
        try:
            _ = Expression(f"{each.value}", Place(line=each.line)).tree
        except EngineError as error:
            place = Place(form.file, each.line, part.place)
            yield Finding(error.code, place, "", error.message, error.advice, "warning")


def _texts(code: Code) -> Iterator[Scalar]:
    """The texts without quotes that have a `$` and are no expressions."""
    for each in _leaves(code):
        match each:
            case Scalar(value=str(text), is_plain=True) if "$" in text:
                yield each


def _expressions(code: Code) -> Iterator[Expression]:
    return (each for each in _leaves(code) if isinstance(each, Expression))


def _leaves(code: Code) -> Iterator[Code]:
    """The expressions and scalars in lists and maps, keys included."""
    match code:
        case Listing(items=items):
            for each in items:
                yield from _leaves(each)
        case Mapped(entries=entries):
            for key, value in entries:
                yield from _leaves(key)
                yield from _leaves(value)
        case _:
            yield code


class _Suggestions:
    """Finds what names were meant for, of the first mistakes in a form: each search takes time, and people correct these first."""

    def __init__(self) -> None:
        self._left = _MOST_COMPARED

    def advice(self, name: str, known: Collection[str]) -> str:
        """What to do about a name that is none of the known ones."""
        otherwise = "correct the name"
        self._left -= len(known)
        return did_you_mean(name, known, otherwise) if self._left >= 0 else otherwise


class _Names:
    """The names in one expression of a form."""

    def __init__(
        self, form: Form, part: _Part, expression: Expression, suggestions: _Suggestions
    ) -> None:
        self._form = form
        self._suggestions = suggestions
        self._part = part
        self._expression = expression
        self._language = language_for(is_legacy=LEGACY.is_legacy)

    def unknown(self) -> Iterator[Finding]:
        """Those of what there is not."""
        tree = self._expression.tree
        bound = set(_bound(tree))
        left: list[tuple[Tree, bool]] = [(tree, self._part.has_answers)]
        while left:
            each, is_all = left.pop()
            match each:
                case Variable(name=name):
                    yield from self._variable(name.removeprefix("$"), bound)
                case Binary(operator="." | "?.", left=of, right=Word(text=name)):
                    yield from self._path(of, name, is_all=is_all)
                case Call(
                    name="ref", arguments=(Word(text=str(name)) | Constant(value=str(name)), *_)
                ):
                    yield from self._unmet("a template", name, self._form.templates)
            left += self._below(each, is_all=is_all)

    def _below(self, tree: Tree, *, is_all: bool) -> Iterator[tuple[Tree, bool]]:
        """The parts of a tree, and whether `$` is all answers in them."""
        if isinstance(tree, Call):
            is_all = is_all and not self._language.is_lazy(tree.name)
        if isinstance(tree, Index):
            yield tree.value, is_all
            yield from ((each, False) for each in tree.arguments)
        elif isinstance(tree, Binary) and tree.operator == "->":
            yield tree.left, is_all
            yield tree.right, False
        else:
            yield from ((each, is_all) for each in reversed(children(tree)))

    def _variable(self, name: str, bound: Collection[str]) -> Iterator[Finding]:
        form, part = self._form, self._part
        if name.isdigit() or name in ("", "forms") or name in bound or form.parameters_source:
            return
        known = {*form.parameters}
        if part.has_templates:
            known |= {*form.templates, _INDEX}
        what = "a template or a parameter" if part.has_templates else "a parameter"
        yield from self._unmet(what, name, known)

    def _path(self, of: Tree, name: str, *, is_all: bool) -> Iterator[Finding]:
        """What is wrong with `$.step` or `$.step.field`."""
        steps = {each.name: each for each in self._form.steps}
        if _is_root(of, is_all=is_all):
            yield from self._unmet("a step", name, steps)
        match of:
            case Binary(operator="." | "?.", left=root, right=Word(text=step)):
                if step in steps and _is_root(root, is_all=is_all):
                    fields = [each.name for each in steps[step].fields]
                    yield from self._unmet(f"a field of {step}", name, fields)

    def _unmet(self, what: str, name: str, known: Collection[str]) -> Iterator[Finding]:
        if name not in known:
            place = Place(self._form.file, self._expression.place.line, self._part.place)
            message = f"{self._expression}: {expectation(what, name)}"
            advice = self._suggestions.advice(name, known)
            yield Finding(FormCode.NAME, place, "", message, advice, "warning")


def _is_root(tree: Tree, *, is_all: bool) -> bool:
    return isinstance(tree, Variable) and (tree.name == "$forms" or (is_all and tree.name == "$1"))


def _bound(tree: Tree) -> Iterator[str]:
    """The names that an expression itself gives values."""
    left = [tree]
    while left:
        each = left.pop()
        left += children(each)
        if isinstance(each, Call) and each.name in _BINDING:
            for one in each.arguments:
                for part in (one.source, one.destination) if isinstance(one, Rule) else (one,):
                    if isinstance(part, Word):
                        yield part.text


def classes_named(form: Form) -> Iterator[tuple[str, Place]]:
    """The classes that a form names without their packages, with the places."""
    for step in form.steps:
        for field in step.fields:
            yield from ((each, field.place) for each in field.classes)
    for code, where in (
        *((code, f"Templates.{name}") for name, code in form.templates.items()),
        (form.application, "Application"),
    ):
        for name, line in _types(code):
            yield name, Place(form.file, line or None, where)


def _types(code: Code) -> Iterator[tuple[str, int]]:
    match code:
        case Listing(items=items):
            for each in items:
                yield from _types(each)
        case Mapped():
            header = code.get("?")
            if isinstance(header, Mapped) and header.get("package") is None:
                type_ = header.get("type")
                if isinstance(type_, Scalar) and "@" not in (text := text_of(type_) or "@"):
                    yield text.partition("/")[0], type_.line
            for _, value in code.entries:
                yield from _types(value)
