"""A registry in a folder: one OCI image layout for each repository.

The repository `acme/crm` of the registry `oci:DIR` is the image layout in `DIR/acme/crm`, which other tools read as
`oci:DIR/acme/crm:TAG`.
"""

import os
from pathlib import Path

from trundle.registry._files import storage_errors
from trundle.registry._layout import DirectoryRepository
from trundle.registry._reference import LAYOUT_PREFIX, check_repository
from trundle.registry.errors import InvalidReferenceError

_OWN_FOLDERS = {"blobs", ".trundle"}


class DirectoryRegistry:
    """A folder with an image layout for each repository.

    Attributes:
        folder: the folder; it need not exist before something is put there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def location(self) -> str:
        """The registry, as references have it."""
        return f"{LAYOUT_PREFIX}{self.folder}"

    def repositories(self) -> list[str]:
        """The names of all repositories, in alphabetical order; the empty one for the folder itself."""
        found = []
        with storage_errors(self.location):
            for folder, names, files in os.walk(self.folder):
                names[:] = [each for each in names if each not in _OWN_FOLDERS]
                if "oci-layout" in files:
                    place = Path(folder).relative_to(self.folder).as_posix()
                    found.append("" if place == "." else place)
        return sorted(found)

    def repository(self, name: str) -> "DirectoryRepository":
        """The repository of a name; that of the empty name is the folder itself.

        Raises:
            InvalidReferenceError: that is no name, or one of a folder that image layouts have themselves.
        """
        if not name:
            return DirectoryRepository(self.folder, self.location)
        location = f"{self.location}//{name}"
        check_repository(name, location)
        if taken := _OWN_FOLDERS.intersection(name.split("/")):
            raise InvalidReferenceError(
                location,
                "a name that no image layout uses for itself",
                repr(min(taken)),
                "choose another name",
            )
        return DirectoryRepository(self.folder / name, location)
