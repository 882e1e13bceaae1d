"""Pages of the site that are made of something else: the README, the changelog, examples, the schema of `trundle.yaml`, docstrings."""

import json
import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import trundle

_LAST = "## Read on"
_ROOMS = ("cli", "drawing")
"""Rooms whose names are for commands, and for other rooms."""


def start_page(root: Path) -> str:
    """The README up to where it leads on: the navigation has that."""
    return linked((root / "README.md").read_text().partition(_LAST)[0], "")


def linked(text: str, docs: str, beside: Path | None = None) -> str:
    """A text with its links as they are on the site.

    Args:
        text: Markdown of a file at the root of the repository, below `docs` or of an example.
        docs: the way from the page to the folder `docs`.
        beside: the folder of the file, where its links to other files lead nowhere on the site.
    """
    text = re.sub(r"\]\((?:\.\./)*docs/", f"]({docs}", text)
    text = re.sub(r"\]\((?:\.\./)+README\.md", f"]({docs}index.md", text)
    text = re.sub(
        r"\]\((?:\.\./)*examples/(\w+)/README\.md", rf"]({docs}site/made/examples/\1.md", text
    )
    if beside is not None:
        text = re.sub(r"\[([^\]]*)\]\((?!https?:|#|\.\./|site/)[^)]*\)", r"\1", text)
    return text


def configuration_page() -> str:
    """`trundle.yaml`, key by key, from its JSON Schema."""
    schema = json.loads((files("trundle.project") / "trundle.schema.json").read_text())
    lines = ["# Configuration", "", schema["description"], ""]
    lines += [
        "`trundle init` writes a first `trundle.yaml`, with a line that lets editors check it by this schema.",
        "",
    ]
    lines += _table(schema)
    for name, each in schema["$defs"].items():
        lines += [f"(configuration-{name.lower()})=", "", f"## {name}", ""]
        lines += [each["description"], ""] if "description" in each else []
        lines += _table(each) if "properties" in each else [_spelled(each), ""]
    return "\n".join(lines)


def _table(schema: dict[str, Any]) -> list[str]:
    required = schema.get("required", ())
    lines = ["| key | what it takes | what it is for |", "|---|---|---|"]
    for name, each in schema.get("properties", {}).items():
        note = " (required)" if name in required else ""
        default = f" Default: `{json.dumps(each['default'])}`." if "default" in each else ""
        lines.append(
            f"| `{name}`{note} | {_spelled(each)} | {each.get('description', '')}{default} |"
        )
    return [*lines, ""]


def _spelled(schema: dict[str, Any]) -> str:
    """What a value may be, in words."""
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#configuration-{name.lower()})"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return ", ".join(f"`{each}`" for each in values)
        case {"anyOf": choices} | {"oneOf": choices}:
            return ", or ".join(dict.fromkeys(map(_spelled, choices)))
        case {"type": "array", "items": items}:
            return f"a list of: {_spelled(items)}"
        case {"type": "object", "additionalProperties": dict() as values}:
            return f"names with: {_spelled(values)}"
        case {"type": "object", "properties": properties}:
            return "keys " + ", ".join(f"`{each}`" for each in properties)
        case {"type": str() as kind}:
            return {"string": "text", "integer": "a number", "boolean": "true or false"}.get(
                kind, kind
            )
        case {"type": list() as kinds}:
            return " or ".join(kinds)
    return "any value"


def _python_pages() -> dict[str, str]:
    """A page for each public module, and one that leads to them."""
    found = {}
    listed = []
    for each in sorted(iter_modules(trundle.__path__), key=lambda each: each.name):
        if not each.ispkg or each.name.startswith("_") or each.name in _ROOMS:
            continue
        module = import_module(f"trundle.{each.name}")
        if not getattr(module, "__all__", ()):
            continue
        title = f"``{module.__name__}``"
        names = [one for one in module.__all__ if _is_of(getattr(module, one), module.__name__)]
        members = f"   :members: {', '.join(names)}\n   :imported-members:\n"
        body = f".. automodule:: {module.__name__}\n{members}"
        found[f"python/{each.name}.rst"] = f"{title}\n{'=' * len(title)}\n\n{body}"
        says = (module.__doc__ or "").partition("\n")[0]
        listed.append(f"| [`{module.__name__}`]({each.name}.rst) | {says} |")
    text = [
        "# Python API",
        "",
        "The public names of each module, with what their docstrings say. They are stable within a major version; [the changelog](../changelog.md) says what a version changes.",
        "",
        "| module | what it is for |",
        "|---|---|",
        *listed,
    ]
    return {**found, "python/index.md": "\n".join(text) + "\n"}


def _is_of(value: Any, module: str) -> bool:
    """Whether a name of a module is its own, and not one that it passes on from another."""
    where = getattr(value, "__module__", None) or module
    return where == module or where.startswith(f"{module}.") or not where.startswith("trundle.")


def write_pages(root: Path) -> None:
    """Writes the pages that are made; what is there as it shall be stays untouched, so that Sphinx reads it once."""
    made = {
        "configuration.md": configuration_page(),
        "changelog.md": linked((root / "CHANGELOG.md").read_text(), "../../"),
        **_python_pages(),
    }
    for each in sorted((root / "examples").glob("*/README.md")):
        made[f"examples/{each.parent.name}.md"] = linked(each.read_text(), "../../../", each.parent)
    folder = root / "docs" / "site" / "made"
    for file in folder.rglob("*"):
        if file.is_file() and str(file.relative_to(folder)) not in made:
            file.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
