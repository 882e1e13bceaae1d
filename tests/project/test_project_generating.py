import compileall

import pytest

import trundle.project._package_files as module
from trundle.project import (
    FindingsError,
    NotGeneratedError,
    OutputRefusedError,
    ProjectError,
    generate,
    generated_scheme,
    package_folder,
)

STRING = "{type: string}"


@pytest.fixture
def people(project):
    return project.schema("2011-01-01", f"{{a: {STRING}}}", required="[a]")


def test_the_package_is_written_as_one_tree(people):
    steps = []
    result = generate(people.config(), progress=lambda step, _done, _total: steps.append(step))
    assert result.root == people.folder / "crm"
    assert "__init__.py" in result.change.written
    assert not result.stale
    assert steps[0] == "read 2011-01-01.yaml"
    assert steps[-1] == "clean up"
    again = generate(people.config())
    assert again.change.written == ()


def test_generated_tests_stand_within_the_package(people, monkeypatch):
    monkeypatch.setattr(
        module, "generate_tests", lambda *_, **options: {"test_a.py": options["package"].encode()}
    )
    generate(people.config())
    assert (people.folder / "crm/tests/test_a.py").read_text() == "crm"


def test_checking_writes_nothing(people):
    result = generate(people.config(), check=True)
    assert result.stale
    assert "__init__.py" in result.comparison.missing
    assert not result.root.exists()
    generate(people.config())
    assert not generate(people.config(), check=True).stale


def test_a_dotted_package_stands_in_its_folders(people):
    people.write("trundle.yaml", "package: acme.crm\noutput: gen\nsources: [schemas]\n")
    assert package_folder(people.config()) == people.folder / "gen/acme/crm"
    generate(people.config())
    with generated_scheme(people.config()) as scheme:
        assert "Person" in scheme.resources


def test_edits_by_hand_are_not_overwritten(people):
    result = generate(people.config())
    (result.root / "__init__.py").write_text("mine")
    with pytest.raises(OutputRefusedError, match="edit by hand"):
        generate(people.config())
    assert generate(people.config(), force=True).change.written == ("__init__.py",)


def test_a_project_with_errors_generates_nothing(people):
    people.configure("changes: {2011-01-01: {Person: {keep: [q]}}}\n")
    with pytest.raises(FindingsError):
        generate(people.config())
    assert not (people.folder / "crm").exists()


def test_an_interrupted_run_leaves_the_old_tree(people, monkeypatch):
    generate(people.config())
    before = {p: p.read_bytes() for p in (people.folder / "crm").rglob("*") if p.is_file()}
    people.schema("2012-02-02", f"{{b: {STRING}}}")
    monkeypatch.setattr(module, "generate_package", lambda *_, **__: {"a.py": b"", "b.py": b""})
    monkeypatch.setattr(module, "generate_tests", lambda *_, **__: {})

    def stop(step, _done, _total):
        if step == "put in place":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(people.config(), progress=stop)
    after = {p: p.read_bytes() for p in (people.folder / "crm").rglob("*") if p.is_file()}
    assert after == before


def test_a_package_that_was_not_generated_is_an_error_that_says_what_to_run(people):
    with (
        pytest.raises(NotGeneratedError, match="run `trundle generate`"),
        generated_scheme(people.config()),
    ):
        pass


@pytest.mark.parametrize("text", ["1 / 0", "scheme = 3", ""])
def test_a_damaged_package_is_an_error(people, text):
    people.write("crm/__init__.py", text)
    with (
        pytest.raises(ProjectError, match="run `trundle generate`"),
        generated_scheme(people.config()),
    ):
        pass


def test_a_file_that_is_edited_after_it_was_read_is_read_by_the_next_run(project):
    """The edit comes while code is generated from what was there before."""
    project.schema("2011-01-01", "{a: {$ref: ../shared/name.yaml}}")
    name = project.write("shared/name.yaml", "type: integer\n")

    def edit(step, _done, _total):
        if step == "read name.yaml":
            name.write_text("type: string\n")

    generate(project.config(), progress=edit)
    assert generate(project.config(), check=True).stale
    generate(project.config())
    assert not generate(project.config(), check=True).stale


def test_what_lasts_goes_on_with_the_package_as_it_was(project):
    """The modules that convert are imported when something is first converted."""
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-01-01", f"{{b: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {rename: {a: b}}}}\n")
    generate(project.config())
    with generated_scheme(project.config(), lasting=True) as scheme:
        project.schema("2013-01-01", f"{{b: {STRING}}}").configure("")
        generate(project.config())
        written = {"apiVersion": "2011-01-01", "kind": "Person", "a": "ann"}
        stored = scheme.convert(written)
    assert (stored["apiVersion"], stored["b"]) == ("2012-01-01", "ann")
    with generated_scheme(project.config()) as scheme:
        assert scheme.convert(written)["apiVersion"] == "2013-01-01"


HOOK = """
from trundle.runtime import hook

class Times:
    @hook(reads=("a",), writes=("b",))
    def assign_to(self, source):
        return {{"b": source.a * {factor}}}

    @hook(reads=("b",), writes=("a",))
    def assign_from(self, source):
        return {{"a": source.b // {factor}}}
"""


def test_what_lasts_goes_on_with_the_hooks_as_they_were(project):
    project.schema("2011-01-01", "{a: {type: integer}}").schema(
        "2012-01-01", "{b: {type: integer}}"
    )
    project.configure(
        "hooks: [{type: Person, between: [2011-01-01, 2012-01-01], use: 'times:Times'}]\n"
    )
    hooks = project.folder / "times.py"
    hooks.write_text(HOOK.format(factor=2))
    generate(project.config())
    written = {"apiVersion": "2011-01-01", "kind": "Person", "a": 3}
    with generated_scheme(project.config(), lasting=True) as scheme:
        hooks.write_text(HOOK.format(factor=3))
        assert scheme.convert(written)["b"] == 6
    with generated_scheme(project.config()) as scheme:
        assert scheme.convert(written)["b"] == 9


def test_what_lasts_needs_no_file_that_is_not_imported(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    generate(project.config())
    (project.folder / "crm" / "notes.py").mkdir()
    with generated_scheme(project.config(), lasting=True) as scheme:
        assert scheme.convert({"apiVersion": "2011-01-01", "kind": "Person", "a": "ann"})


def test_what_lasts_is_imported_from_its_bytecode_where_that_is_its_own(project, monkeypatch):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    generate(project.config())
    folder = project.folder / "crm"
    assert compileall.compile_dir(folder, quiet=1)
    compiled = []
    monkeypatch.setattr(
        "importlib.machinery.SourceFileLoader.source_to_code",
        lambda self, data, path, **_: compiled.append(path) or compile(data, path, "exec"),
    )
    written = {"apiVersion": "2011-01-01", "kind": "Person", "a": "ann"}
    with generated_scheme(project.config(), lasting=True) as scheme:
        scheme.convert(written)
    assert compiled == []
    edited = folder / "__init__.py"
    edited.write_text(f"{edited.read_text()}# edited\n")
    with generated_scheme(project.config(), lasting=True) as scheme:
        scheme.convert(written)
    assert compiled == [str(edited)]
