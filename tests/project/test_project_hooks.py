import sys

import pytest

STRING = "{type: string}"
GOOD = """\
    from trundle.runtime import hook

    class Names:
        @hook(reads=("first_name", "last_name"), writes=("full_name",))
        def assign_to(self, source):
            return {"full_name": f"{source.first_name} {source.last_name}"}

        @hook(reads=("full_name",), writes=("first_name",))
        def assign_from(self, source):
            return {"first_name": source.full_name}

        def convert_integer_to_string(self, value):
            return str(value)

        def helper(self, one, two):
            return one, two
"""


@pytest.fixture
def people(project):
    project.schema(
        "2011-01-01", f"{{firstName: {STRING}, lastName: {STRING}, n: {{type: integer}}}}"
    )
    project.schema("2013-03-03", f"{{fullName: {STRING}, n: {STRING}}}")
    return project


def hooked(project, code, *, between="[2011-01-01, 2013-03-03]", use="names:Names", type_="Person"):
    project.write("names.py", code)
    project.configure(f"hooks:\n  - {{type: {type_}, between: {between}, use: '{use}'}}\n")
    return project.problems()


def test_a_hook_declares_schema_names(people):
    assert hooked(people, GOOD) == []
    (declared,) = people.load().hooks
    assert declared.assign["assign_to"].reads == ("firstName", "lastName")
    assert declared.assign["assign_to"].writes == ("fullName",)
    assert declared.assign["assign_from"].reads == ("fullName",)
    assert declared.converters == ("convert_integer_to_string",)


def test_discovery_leaves_the_interpreter_as_it_was(people, capsys):
    path = list(sys.path)
    assert hooked(people, "print('hello')\n" + "    " + GOOD.lstrip()) != ["never"]
    assert sys.path == path
    assert "names" not in sys.modules
    assert capsys.readouterr().out == ""
    assert not list(people.folder.rglob("__pycache__"))


def test_a_changed_hook_is_read_anew(people):
    assert hooked(people, GOOD) == []
    assert hooked(people, GOOD.replace("full_name", "fall_name")) != []
    assert hooked(people, GOOD) == []


def test_modules_beside_the_hook_can_be_imported(people):
    people.write("helpers.py", "NAME = 'full_name'\n")
    code = GOOD.replace(
        "from trundle.runtime import hook", "from trundle.runtime import hook\n    import helpers"
    ).replace('writes=("full_name",)', "writes=(helpers.NAME,)")
    assert hooked(people, code) == []
    assert "helpers" not in sys.modules


@pytest.mark.parametrize(
    ("code", "use", "reason"),
    [
        ("x = 1", "nomes:Names", "found no module nomes; write it below"),
        ("x = 1", "names:Names", "found no Names in names"),
        (GOOD, "names:Name", "found no Name in names; did you mean Names?"),
        ("Names = 3", "names:Names", "to be a class, found int"),
        (
            "import nothing_there",
            "names:Names",
            "ModuleNotFoundError: No module named 'nothing_there' at names.py:1",
        ),
        ("\n\n1 / 0", "names:Names", "ZeroDivisionError: division by zero at names.py:3"),
        ("import crm", "names:Names", "found an import of the generated package crm at names.py:1"),
        ("raise SystemExit(3)", "names:Names", "found SystemExit: 3 at names.py:1"),
        ("def :", "names:Names", "found SyntaxError"),
    ],
)
def test_a_class_that_cannot_be_imported_is_a_finding(people, code, use, reason):
    (found,) = hooked(people, code, use=use)
    assert found.startswith("trundle.yaml:4: ")
    assert reason in found


def method(text):
    return f"from trundle.runtime import hook\nclass Names:\n{text}\n"


DECLARED = "    @hook(reads=('first_name',), writes=('full_name',))\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("    pass", "expected a method assign_to, assign_from or convert_..._to_... in names:Names"),
        ("    def assign_to(self, s): ...", "names:Names.assign_to does not say what it reads and writes"),
        (DECLARED + "    def assign_too(self, s): ...", "assign_too is called by no conversion; did you mean assign_to?"),
        (DECLARED + "    def assign_to(self): ...", "expected names:Names.assign_to(self, source), found assign_to(self)"),
        (DECLARED + "    def assign_to(self, a, b): ...", "found assign_to(self, a, b); let it take just"),
        (DECLARED + "    def assign_to(self, a, *, b): ...", "found assign_to(self, a, *, b)"),
        (DECLARED + "    async def assign_to(self, a): ...", "found an async method"),
        (DECLARED + "    def assign_to(self, a): yield a", "found a generator"),
        (DECLARED.replace("first_name", "frist_name") + "    def assign_to(self, s): ...",
         "reads 'frist_name', which Person of 2011-01-01 does not have; did you mean first_name?"),
        (DECLARED.replace("full_name", "last_name") + "    def assign_to(self, s): ...",
         "writes 'last_name', which Person of 2013-03-03 does not have"),
        (DECLARED.replace("('first_name',)", "()") + "    def assign_to(self, s): ...", "declares no reads"),
        ("    def convert_number_to_string(self, v): ...",
         ("convert_number_to_string fits no changed property of Person between 2011-01-01 and "
         "2013-03-03; call it one of convert_integer_to_string, convert_string_to_integer")),
        ("    def convert_integer_to_string(self): ...", "expected names:Names.convert_integer_to_string(self, source)"),
        ("    def __init__(self, x): ...\n" + DECLARED + "    def assign_to(self, s): ...",
         "expected to make names:Names without arguments"),
    ],
)  # fmt: skip
def test_a_method_that_no_plan_can_call_is_a_finding(people, code, reason):
    found = hooked(people, method(code))
    assert len(found) == 1
    assert reason in found[0]
    assert people.load().hooks == ()


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("times.finally", "did you mean times.finally_?"),
        ("times.limit.mox", "did you mean times.limit.max?"),
        ("times.limit.max.x", "did you mean times.limit.max?"),
        ("tims.limit", "did you mean times?"),
    ],
)
def test_a_path_that_leads_nowhere_is_compared_with_what_is_beside_it(people, path, advice):
    limit = f"{{type: object, properties: {{max: {STRING}, near: {STRING}}}}}"
    times = f"{{type: object, properties: {{finally: {STRING}, limit: {limit}}}}}"
    people.schema("2011-01-01", f"{{firstName: {STRING}, times: {times}}}")
    declared = DECLARED.replace("first_name", path)
    (found,) = hooked(people, method(declared + "    def assign_to(self, s): ..."))
    assert f"reads '{path}', which Person of 2011-01-01 does not have; {advice}" in found


def test_text_in_place_of_a_tuple_is_explained(people):
    found = hooked(people, GOOD.replace('writes=("full_name",)', 'writes=("full_name")'))
    assert all("as a tuple" in each for each in found)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"between": "[2011-01-01, 2012-02-02]"}, "stands at 2012-02-02, which no schema has"),
        ({"type_": "Persom"}, "which 2011-01-01 does not have; did you mean Person?"),
    ],
)
def test_a_hook_for_something_gone_is_dangling(people, options, reason):
    (found,) = hooked(people, GOOD, **options)
    assert reason in found


def test_a_version_in_between_names_the_pair_that_the_hook_belongs_to(people):
    properties = f"{{firstName: {STRING}, lastName: {STRING}, n: {{type: integer}}}}"
    people.schema("2012-02-02", properties)
    (found,) = hooked(people, GOOD)
    assert "which are no neighbours: 2012-02-02 came between" in found
    assert found.endswith("it now belongs to [2012-02-02, 2013-03-03]; write that")
    assert hooked(people, GOOD, between="[2012-02-02, 2013-03-03]") == []


def test_a_preview_in_between_changes_nothing(people):
    people.schema("2012-02-02-preview", f"{{firstName: {STRING}}}")
    assert hooked(people, GOOD) == []


METADATA = """\
    from trundle.runtime import hook

    class Names:
        @hook(reads=("metadata", "first_name"), writes=("full_name",))
        def assign_to(self, source):
            return {"full_name": str(source.metadata)}
"""


def test_a_hook_of_a_resource_may_read_metadata(people):
    assert hooked(people, METADATA) == []
    (declared,) = people.load().hooks
    assert declared.assign["assign_to"].reads == ("firstName", "metadata")


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        (
            '("metadata",',
            '("metadata.labels",',
            """'metadata.labels', which is no label or annotation; write 'metadata.labels["example""",
        ),
        ('("full_name",)', '("metadata",)', "writes 'metadata', which hooks only read"),
        ('("full_name",)', '("metadata.name",)', "writes 'metadata.name', which is no label"),
        ('("metadata",', '("metdata",', "reads 'metdata', which Person of 2011-01-01 does not"),
        ('("metadata",', '("metdata",', "did you mean metadata?"),
    ],
)
def test_metadata_is_read_whole_and_not_written(people, was, now, reason):
    assert any(reason in each for each in hooked(people, METADATA.replace(was, now)))


LABELS = """\
    from trundle.runtime import hook

    class Names:
        @hook(reads=("first_name",), writes=('metadata.labels["example.com/name"]',))
        def assign_to(self, source):
            return {"metadata_labels_example_com_name": source.first_name}

        @hook(reads=('metadata.labels["example.com/name"]',), writes=("first_name",))
        def assign_from(self, source):
            return {"first_name": source.metadata_labels_example_com_name}
"""


def test_a_hook_of_a_resource_may_write_labels(people):
    assert hooked(people, LABELS) == []
    (declared,) = people.load().hooks
    assert declared.assign["assign_to"].writes == ("metadata.labels[example.com/name]",)
    assert declared.assign["assign_from"].reads == ("metadata.labels[example.com/name]",)


@pytest.mark.parametrize(
    "key",
    [
        "-a",
        "a_",
        "a b",
        "/a",
        "a/",
        "Example.com/a",
        "a..b/c",
        "a/b/c",
        "a" * 64,
        "a." * 127 + "/c",
    ],
)
def test_a_key_that_kubernetes_does_not_admit(people, key):
    found = hooked(people, LABELS.replace("example.com/name", key))
    assert any("at most 63 letters" in each and "as the key that" in each for each in found)


@pytest.mark.parametrize("key", ["a", "A-b_c.D", "a" * 63, "x.example/0", "a.b-c.d/E"])
def test_a_key_that_kubernetes_admits(people, key):
    assert hooked(people, LABELS.replace("example.com/name", key)) == []


def test_a_label_has_one_method_that_writes_it(people):
    twice = LABELS.replace(
        'writes=("first_name",)', """writes=('metadata.labels["example.com/name"]',)"""
    )
    (found,) = hooked(people, twice)
    assert "Names.assign_to between 2011-01-01 and 2013-03-03 writes" in found
    assert """Names.assign_from between 2011-01-01 and 2013-03-03 writes, too; let one""" in found


def test_a_label_that_no_hook_writes_is_read_with_all_metadata(people):
    (found,) = hooked(
        people, LABELS.replace('reads=("first_name",)', """reads=('metadata.labels["a"]',)""")
    )
    assert (
        """reads 'metadata.labels["a"]', which no hook writes for 2011-01-01; read 'metadata'"""
        in found
    )
