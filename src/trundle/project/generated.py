"""Uses a project's generated package."""

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path

from trundle.errors import Kind, expectation
from trundle.project._importing import held, importable
from trundle.project.admission import admission_modules
from trundle.project.config import Config
from trundle.project.errors import FileCode, ProjectError, ProjectFileError
from trundle.project.hooks import hook_modules
from trundle.runtime import JoinedScheme, Scheme


class NotGeneratedError(ProjectError):
    """The project's package was not generated yet."""

    kind = Kind.NOT_FOUND


@contextlib.contextmanager
def generated_scheme(config: Config, *, lasting: bool = False) -> Iterator[Scheme | JoinedScheme]:
    """The scheme of a project's generated package; it may be used only within.

    Args:
        config: the project.
        lasting: whether it is used for long, as by a server. It goes on with the package and the project's hooks as they are now then, also
            when these change.

    Raises:
        NotGeneratedError: the package is not there.
        ProjectError: the package cannot be imported.
    """
    folder = config.output.joinpath(*config.package.split("."))
    if not (folder / "__init__.py").is_file():
        expected = f"the generated package {config.package}"
        text = expectation(expected, "none", "run `trundle generate`")
        raise NotGeneratedError(f"{folder}: {text}")
    own = [*hook_modules(config.hooks), *admission_modules(config)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(importable([config.output, config.path.parent], [config.package, *own]))
        if lasting:
            tops = {name.partition(".")[0] for name in own}
            places = {name: config.path.parent / name for name in tops}
            stack.enter_context(held({**places, config.package: folder}))
        try:
            scheme = importlib.import_module(config.package).scheme
        except Exception as error:
            expected, found = "a package that can be imported", f"{type(error).__name__}: {error}"
            raise _unusable(folder, expected, found) from error
        if not isinstance(scheme, Scheme | JoinedScheme):
            raise _unusable(folder, "`scheme` to be a Scheme", type(scheme).__name__)
        yield scheme


def _unusable(folder: Path, expected: str, found: str) -> ProjectFileError:
    return ProjectFileError(FileCode.PACKAGE, folder, expected, found, "run `trundle generate`")
