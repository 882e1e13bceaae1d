"""Faces of rooms that import what they show when it is first asked for."""

import compileall
import importlib
import subprocess
import sys
from pathlib import Path

import house
import pytest

SOURCE = house.ROOT / "src" / "trundle"
CALL = "on_demand(__name__)"
FACES = sorted(
    ".".join(each.parent.relative_to(SOURCE.parent).parts)
    for each in SOURCE.rglob("__init__.py")
    if CALL in each.read_text("utf-8").splitlines()
)


def run(program, *arguments, folder=None):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


def test_large_rooms_have_such_faces():
    assert {"trundle.codegen", "trundle.engine", "trundle.evolution", "trundle.project"} <= {*FACES}
    assert "trundle.runtime" not in FACES  # Programs that are frozen import it without sources.


@pytest.mark.parametrize("face", FACES)
def test_a_face_shows_all_that_it_says(face):
    package = importlib.import_module(face)
    assert [each for each in package.__all__ if not hasattr(package, each)] == []
    assert set(package.__all__) <= set(dir(package))
    folder = SOURCE.parent.joinpath(*face.split("."))
    modules = {each.stem for each in folder.glob("*.py")} | {
        each.parent.name for each in folder.glob("*/__init__.py")
    }
    assert modules & set(package.__all__) == set(), "a module takes the place of what is shown"
    with pytest.raises(AttributeError, match=f"module '{face}' has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018 - it is asked for
    with pytest.raises(ImportError):
        exec(f"from {face} import nonsense")


@pytest.mark.parametrize("face", FACES)
def test_a_face_imports_nothing_before_it_is_asked(face):
    program = (
        "import importlib, sys; face = sys.argv[1]; importlib.import_module(face)\n"
        "print([each for each in sys.modules if each.startswith(f'{face}.')])"
    )
    assert run(program, face).stdout.strip() == "[]"


@pytest.mark.full
def test_what_is_shown_is_imported_once():
    program = (
        "import sys, trundle.project as face\n"
        "assert 'trundle.project.checking' not in sys.modules\n"
        "check = face.check\n"
        "from trundle.project.checking import check as same\n"
        "assert check is same is vars(face)['check']\n"
    )
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_servers_import_everything_before_they_start_threads():
    program = (
        "import sys, trundle.api, trundle.kubernetes\n"
        "from trundle.runtime import prepare_types\n"
        "prepare_types()\n"
        "before = set(sys.modules)\n"
        "faces = [each for each in sys.argv[1:] if each in sys.modules]\n"
        "assert 'trundle.project' in faces, faces\n"
        "for each in faces: exec(f'from {each} import *', {})\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = run(program, *FACES)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_a_face_without_its_source_says_so(tmp_path):
    package = tmp_path / "bare"
    package.mkdir()
    (package / "__init__.py").write_text(f"from trundle._faces import on_demand\n{CALL}\n")
    assert compileall.compile_dir(package, quiet=1, legacy=True)
    Path(package / "__init__.py").unlink()
    done = run("import bare", folder=tmp_path)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: bare: expected the source of the package, found only compiled code; "
        "install Trundle with its sources"
    )


def test_code_within_limits_runs_when_all_is_imported():
    program = (
        "import sys, trundle.environments, trundle.project\n"
        "from trundle.cli._runs import RunOptions, run_code\n"
        "known = run_code(lambda limits: {*sys.modules}, RunOptions())\n"
        "for each in (trundle.environments, trundle.project): [getattr(each, x) for x in each.__all__]\n"
        "print(sorted(each for each in {*sys.modules} - known if each.startswith('trundle.')))"
    )
    done = run(program)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
