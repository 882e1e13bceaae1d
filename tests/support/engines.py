"""Packages of the package language from texts, for tests of the engine."""

from trundle.packages import Package


def package(name, version="1.0.0", requires=None, classes=None, **keys):
    """A package whose classes are given by file, as `{"a.yaml": "Name: ..."}`, or by name without their file."""
    lines = [f"FullName: {name}", "Type: Library", f"Version: {version}"]
    lines += [f"{key}: {value}" for key, value in keys.items()]
    if requires:
        lines += [
            "Require:",
            *(f"  {each}: {'' if spec is None else repr(spec)}" for each, spec in requires.items()),
        ]
    files = {}
    if classes:
        lines.append("Classes:")
        for at, (each, text) in enumerate(classes.items()):
            path = f"class{at}.yaml"
            lines.append(f"  {each}: {path}")
            named = "" if "Name:" in text else f"Name: {each}\n"
            files[f"Classes/{path}"] = named + text
    files["manifest.yaml"] = "\n".join(lines)
    return Package.from_files(files)


def extends(*parents, **members):
    """The text of a class with parents and methods."""
    lines = []
    if parents:
        lines.append(f"Extends: [{', '.join(parents)}]")
    if members:
        lines += ["Methods:", *(f"  {each}:" for each in members)]
    return "\n".join(lines)
