"""Uses a project's generated package."""

import contextlib
import importlib
from collections.abc import Iterator

from trundle.errors import Kind
from trundle.project._importing import importable
from trundle.project.config import Config
from trundle.project.errors import ProjectError
from trundle.project.hooks import hook_modules
from trundle.runtime import JoinedScheme, Scheme


class NotGeneratedError(ProjectError):
    """The project's package was not generated yet."""

    kind = Kind.NOT_FOUND


@contextlib.contextmanager
def generated_scheme(config: Config) -> Iterator[Scheme | JoinedScheme]:
    """The scheme of a project's generated package; it may be used only within.

    Raises:
        NotGeneratedError: the package is not there.
        ProjectError: the package cannot be imported.
    """
    folder = config.output.joinpath(*config.package.split("."))
    if not (folder / "__init__.py").is_file():
        text = f"{folder}: expected the generated package {config.package}, found none"
        raise NotGeneratedError(f"{text}; run `trundle generate`")
    names = [config.package, *hook_modules(config.hooks)]
    with importable([config.output, config.path.parent], names):
        try:
            scheme = importlib.import_module(config.package).scheme
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            text = f"{folder}: expected a package that can be imported, found {found}"
            raise ProjectError(f"{text}; run `trundle generate`") from error
        if not isinstance(scheme, Scheme | JoinedScheme):
            text = f"{folder}: expected `scheme` to be a Scheme, found {type(scheme).__name__}"
            raise ProjectError(f"{text}; run `trundle generate`")
        yield scheme
