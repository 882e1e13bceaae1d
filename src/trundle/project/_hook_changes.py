"""What changed about the hooks of a project from one release to the next.

The hooks of a release are read as text and never imported: comparing releases runs nothing of what they carry.
"""

import ast
from collections.abc import Iterator

import msgspec

from trundle.documents import UnreadableError, parse_values
from trundle.evolution import HookReference
from trundle.packages import ChangeCode, PackageError, ReleaseChange, judged, major, minor
from trundle.project._packaged_classes import package_around, packaged_classes
from trundle.project.config import Config

_ASSIGNING = ("assign_to", "assign_from")


class _Hook(msgspec.Struct, frozen=True):
    """A hook as its text shows it.

    Attributes:
        methods: the methods by which it converts.
        text: what its module says, without comments and layout, or the file of its class; None where it is not in the project.
    """

    methods: frozenset[str]
    text: str | None


def hook_changes(before: Config, now: Config) -> Iterator[ReleaseChange]:
    """Hooks and methods that are gone or new, and those that say something else."""
    ours, theirs = ({_key(each): each for each in config.hooks} for config in (before, now))
    for key in sorted(ours.keys() - theirs.keys()):
        yield major(ChangeCode.HOOK_REMOVED, _place(key), "the hook is removed")
    for key in sorted(theirs.keys() - ours.keys()):
        yield minor(ChangeCode.HOOK_ADDED, _place(key), "the hook is new")
    for key in sorted(ours.keys() & theirs.keys()):
        one, other = _read(ours[key], before), _read(theirs[key], now)
        place = _place(key)
        for method in sorted(one.methods - other.methods):
            yield major(ChangeCode.HOOK_REMOVED, place, f"its method {method} is removed")
        for method in sorted(other.methods - one.methods):
            yield minor(ChangeCode.HOOK_ADDED, place, f"its method {method} is new")
        if one.text is None or other.text is None:
            text = "its module is not in the package; compare what it does"
            yield judged(ChangeCode.HOOK_CHANGED, place, text)
        elif one.text != other.text and one.methods == other.methods:
            text = "its code changed; look at what becomes of values"
            yield judged(ChangeCode.HOOK_CHANGED, place, text)


def _key(hook: HookReference) -> tuple[str, str, str]:
    return (hook.type, str(hook.older), str(hook.newer))


def _place(key: tuple[str, str, str]) -> str:
    return f"the hook of {key[0]} between {key[1]} and {key[2]}"


def _read(hook: HookReference, config: Config) -> _Hook:
    return _read_static(hook, config) if hook.is_static else _read_python(hook, config)


def _read_static(hook: HookReference, config: Config) -> _Hook:
    """A hook whose methods are static, as the file of its class has it."""
    folder = package_around(config.path.parent)
    try:
        package = None if folder is None else packaged_classes(folder)
    except (PackageError, OSError, UnicodeDecodeError):
        package = None
    text = "" if package is None else package.texts.get(hook.use, "")
    if not text:
        return _Hook(frozenset(), None)
    try:
        (found,) = parse_values(text.encode(), file=hook.use, yaml=True)
    except (UnreadableError, ValueError):
        return _Hook(frozenset(), text)
    methods = found.get("Methods") if isinstance(found, dict) else None
    names = methods if isinstance(methods, dict) else {}
    called = (str(each) for each in names)
    known = (each for each in called if each in _ASSIGNING or each.startswith("convert_"))
    return _Hook(frozenset(known), text)


def _read_python(hook: HookReference, config: Config) -> _Hook:
    module, _, path = hook.use.partition(":")
    folder = config.path.parent.joinpath(*module.split("."))
    for file in (folder.with_suffix(".py"), folder / "__init__.py"):
        try:
            tree = ast.parse(file.read_bytes())
        except FileNotFoundError:
            continue
        except (SyntaxError, ValueError, OSError):
            break
        return _Hook(frozenset(_methods(tree, path)), ast.dump(tree))
    return _Hook(frozenset(), None)


def _methods(tree: ast.Module, path: str) -> Iterator[str]:
    """The public methods of a class; what it inherits is not seen."""
    body: list[ast.stmt] = tree.body
    for name in path.split("."):
        found = [each for each in body if isinstance(each, ast.ClassDef) and each.name == name]
        body = found[-1].body if found else []
    for each in body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            yield each.name
