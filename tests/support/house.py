"""The rooms of Trundle as the code has them: who imports whom, and a picture of it.

`python tests/support/house.py` draws the picture for docs/architecture.md.
"""

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "house.svg"

ROOMS = (
    "cli",
    "dashboard",
    "testing",
    "providers",
    "kubernetes",
    "api",
    "installation",
    "environments",
    "pages",
    "models",
    "parts",
    "catalog",
    "project",
    "verify",
    "channels",
    "registry",
    "store",
    "forms",
    "engine",
    "packages",
    "codegen",
    "report",
    "evolution",
    "schema",
    "cel",
    "runtime",
    "database",
    "drawing",
    "documents",
    "workers",
    "version",
    "errors",
)
"""The rooms from the top of the house to its bottom; a room imports only rooms below it."""

_CELL = 26
_NAMES = 112
_JOBS = 470
_TOP = 104


def graph() -> grimp.ImportGraph:
    """All imports in Trundle, those inside of functions and those for type checkers included, generated tests left aside."""
    found = grimp.build_graph("trundle", cache_dir=None)
    for module in [each for each in found.modules if "tests" in each.split(".")]:
        found.remove_module(module)
    return found


def room_of(module: str) -> str:
    """The room of a module; empty for the modules beside the rooms, such as `trundle._locking`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("_") else ""


def imports(found: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    """Every importing module with each module that it imports."""
    for module in sorted(found.modules):
        for imported in sorted(found.find_modules_directly_imported_by(module)):
            yield module, imported


def between_rooms(found: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Every importing room with each room that it imports."""
    pairs = {(room_of(one), room_of(other)) for one, other in imports(found)}
    return {(one, other) for one, other in pairs if one and other and one != other}


def private_imports(found: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Imports of a private module from outside of the package that it belongs to."""
    return {
        (module, imported)
        for module, imported in imports(found)
        if (owner := _owner(imported)) and not f"{module}.".startswith(f"{owner}.")
    }


def _owner(module: str) -> str:
    """The package inside of which a module may be imported; empty where that is everywhere."""
    parts = module.split(".")
    private = next((at for at, part in enumerate(parts) if part[:1] == "_" != part[1:2]), None)
    return "" if private is None else ".".join(parts[:private])


def circles(found: grimp.ImportGraph) -> set[frozenset[str]]:
    """Modules that import each other, directly or by way of others."""
    above = {module: found.find_upstream_modules(module) for module in found.modules}
    return {
        circle
        for module in found.modules
        if len(circle := frozenset({module, *(o for o in above[module] if module in above[o])})) > 1
    }


def job_of(room: str) -> str:
    """What a room is for: the first line of its docstring."""
    source = (ROOT / "src" / "trundle" / room / "__init__.py").read_text("utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("`", "").rstrip(".")


def picture(pairs: set[tuple[str, str]]) -> str:
    """The house as SVG: one row for each room, with a dot under each room that it imports."""
    width, height = _NAMES + len(ROOMS) * _CELL + _JOBS, _TOP + len(ROOMS) * _CELL + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>The rooms of Trundle, from top to bottom, and what each imports</title>",
        "<style>",
        "text { font: 13px system-ui, sans-serif; fill: #1f2328 }",
        ".job { fill: #59636e; font-size: 12px }",
        ".row { fill: #f6f8fa } .dot { fill: #0969da } .own { fill: #d1d9e0 }",
        "@media (prefers-color-scheme: dark) {",
        "text { fill: #f0f6fc } .job { fill: #9198a1 }",
        ".row { fill: #151b23 } .dot { fill: #4493f8 } .own { fill: #3d444d } }",
        "</style>",
    ]
    for at, room in enumerate(ROOMS):
        x, y = _NAMES + at * _CELL + _CELL // 2, _TOP + at * _CELL
        if at % 2 == 0:
            lines.append(f'<rect class="row" x="0" y="{y}" width="{width}" height="{_CELL}"/>')
        lines.append(f'<text transform="translate({x + 4},{_TOP - 8}) rotate(-60)">{room}</text>')
        lines.append(f'<text x="6" y="{y + 17}">{room}</text>')
        job = escape(_short(job_of(room)))
        left = _NAMES + len(ROOMS) * _CELL + 10
        lines.append(f'<text class="job" x="{left}" y="{y + 17}">{job}</text>')
        lines.append(f'<circle class="own" cx="{x}" cy="{y + 13}" r="3"/>')
        for other_at, other in enumerate(ROOMS):
            if (room, other) in pairs:
                across = _NAMES + other_at * _CELL + _CELL // 2
                lines.append(
                    f'<circle class="dot" cx="{across}" cy="{y + 13}" r="6">'
                    f"<title>{room} imports {other}</title></circle>"
                )
    return "\n".join((*lines, "</svg>", ""))


def _short(text: str, longest: int = 68) -> str:
    """A text that fits beside the dots."""
    return text if len(text) <= longest else text[:longest].rpartition(" ")[0].rstrip(",:;") + " …"


if __name__ == "__main__":
    PICTURE.write_text(picture(between_rooms(graph())), encoding="utf-8")
