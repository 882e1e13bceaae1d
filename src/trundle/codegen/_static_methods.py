"""The module of a package whose classes call static methods: hooks in classes of the package that carries the schemas."""

from collections.abc import Iterator, Mapping

from trundle.codegen._blueprint import Blueprint
from trundle.codegen._hook_names import STATIC_METHODS, StaticCall, static_class
from trundle.codegen._hook_records import HookRecords, hook_records
from trundle.codegen._hooks import hook_places, protocol_name
from trundle.codegen._layout import lay_out
from trundle.codegen._naming import class_name
from trundle.codegen._text import HEADER, docstring, text_literal
from trundle.evolution import HookDeclaration, Neighbours

_INDENT = " " * 4


def static_methods(
    blueprint: Blueprint,
    files: Mapping[str, str],
    calls: Mapping[tuple[str, Neighbours, str], StaticCall],
) -> dict[str, bytes]:
    """The module, by its path in the package; nothing where no hook is a static method.

    Args:
        blueprint: that of the package.
        files: the files of the package of classes that has the methods.
        calls: the methods by type, neighbours, and what they are for.
    """
    hooks = [each for each in blueprint.evolution.hooks if each.reference.is_static]
    if not hooks:
        return {}
    records = {
        (key.type, key.between, key.method): each for key, each in hook_records(blueprint).items()
    }
    classes = "\n\n".join(_class(each, calls, records) for each in hooks)
    modules = {
        (place.between, place.type_name): module.rpartition(".")[2]
        for module, places in hook_places(
            dict.fromkeys(key.lineage for key in blueprint.plans)
        ).items()
        for place in places
    }
    typed = "\n".join(text for each in hooks if (text := _typed(each, modules)))
    checked = f"if TYPE_CHECKING:\n{typed}\n\n" if typed else ""
    typing = "TYPE_CHECKING, Any, Protocol" if typed else "Any"
    about = docstring("Calls the static methods that are the hooks of this package.")
    text = (
        f"{HEADER}{about}\nfrom __future__ import annotations\n\nfrom typing import {typing}\n\n"
        f"from trundle.project.static_methods import {', '.join(_used(classes))}\n\n{checked}"
        f"_methods = StaticMethods(\n    __package__,\n    {{\n{''.join(_files(files))}    }},\n)\n\n"
        f"{classes}\n"
    )
    return {f"{STATIC_METHODS.replace('.', '/')}.py": lay_out(text).encode()}


def _used(classes: str) -> list[str]:
    """What the classes need."""
    made = [each for each in ("Assigning", "Converting") if f"{each}(" in classes]
    return [*made, "StaticMethods"]


def _typed(hook: HookDeclaration, modules: Mapping[tuple[Neighbours, str], str]) -> str:
    """For type checkers: what the converters of a class take and give."""
    reference = hook.reference
    between = Neighbours(reference.older, reference.newer)
    if not hook.converters:
        return ""
    names = sorted(protocol_name(class_name(reference.type), each) for each in hook.converters)
    methods = "".join(
        f"{_INDENT * 2}def {each}(self, source: Any, /) -> Any: ...\n" for each in hook.assign
    )
    module = modules[between, reference.type]
    return (
        f"{_INDENT}from .{module} import {', '.join(names)}\n\n"
        f"{_INDENT}class {_protocol_of(hook)}({', '.join(names)}, Protocol):\n"
        f"{methods or f'{_INDENT * 2}pass{chr(10)}'}"
    )


def _protocol_of(hook: HookDeclaration) -> str:
    between = Neighbours(hook.reference.older, hook.reference.newer)
    return f"_{static_class(hook.reference.type, between)}"


def _files(files: Mapping[str, str]) -> Iterator[str]:
    """The files as entries of a dictionary, line by line."""
    for name, text in sorted(files.items()):
        lines = text.splitlines(keepends=True) or [""]
        shown = "".join(f"{_INDENT * 3}{_line(each)}\n" for each in lines)
        yield f"{_INDENT * 2}{text_literal(name)}: (\n{shown}{_INDENT * 2}),\n"


def _line(text: str) -> str:
    """A line as a literal in double quotes, where none is in it."""
    shown = repr(text)
    return shown if '"' in text or shown[0] == '"' else f'"{shown[1:-1]}"'


def _class(
    hook: HookDeclaration,
    calls: Mapping[tuple[str, Neighbours, str], StaticCall],
    records: Mapping[tuple[str, Neighbours, str], HookRecords],
) -> str:
    reference = hook.reference
    between = Neighbours(reference.older, reference.newer)
    members = []
    for name in (*hook.assign, *hook.converters):
        found = records.get((reference.type, between, name))
        if found is not None:
            call = calls[reference.type, between, name]
            made = _converting if name in hook.converters else _assigning
            members.append(f"{_INDENT}{name}={made(call, found)},\n")
    type_ = f"type[{_protocol_of(hook)}]" if hook.converters else "Any"
    return (
        f"{static_class(reference.type, between)}: {type_} = _methods.hooks(\n"
        f"{_INDENT}{text_literal(reference.use)},\n{''.join(members)})"
    )


def _assigning(call: StaticCall, records: HookRecords) -> str:
    reads = {records.reads[name]: argument for name, argument in call.arguments.items()}
    writes = {
        key: records.writes[name] for key, name in call.outputs.items() if name in records.writes
    }
    return (
        f"Assigning({_record(records)}, reads={_dictionary(reads)}, writes={_dictionary(writes)})"
    )


def _converting(call: StaticCall, records: HookRecords) -> str:
    (argument,) = call.arguments.values()
    attributes = list(dict.fromkeys(records.writes.values()))
    listed = ", ".join(map(text_literal, attributes))
    return (
        f"Converting({_record(records)}, argument={text_literal(argument)}, attributes=[{listed}])"
    )


def _record(records: HookRecords) -> str:
    module = records.module.rpartition(".")[2]
    return f"{text_literal(module)}, {text_literal(records.written)}"


def _dictionary(items: Mapping[str, str]) -> str:
    shown = (f"{text_literal(key)}: {text_literal(each)}" for key, each in items.items())
    return f"{{{', '.join(shown)}}}"
