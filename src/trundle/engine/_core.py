"""The packages that are bundled with the engine: the core library, and the one for applications on many servers."""

import functools
from importlib import resources
from importlib.resources.abc import Traversable

from trundle.packages import Package


@functools.cache
def core_packages() -> tuple[Package, ...]:
    """The bundled packages; `io.murano` is the first."""
    root = resources.files("trundle.engine") / "core"
    names = sorted(each.name for each in root.iterdir() if (each / "manifest.yaml").is_file())
    return tuple(Package.from_files(_files(root / name)) for name in names)


def _files(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for each in folder.iterdir():
        if each.is_dir():
            found |= _files(each, f"{prefix}{each.name}/")
        else:
            found[prefix + each.name] = each.read_bytes()
    return found
