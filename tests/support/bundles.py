"""Small packages of classes."""

from trundle.packages import Package


def bundle(name, version="1.0.0", needs=None, text="", **classes):
    """A package.

    Args:
        name: its full name.
        version: its version.
        needs: ranges by the name of a package.
        text: what makes its content different.
        classes: the content of a class file by the name of its class.
    """
    lines = ["Format: '1.0'", "Type: Library", f"FullName: {name}", f"Version: {version}"]
    if needs:
        lines += ["Require:", *(f"  {each}: '{spec}'" for each, spec in needs.items())]
    if classes:
        lines += ["Classes:", *(f"  {name}.{each}: {each}.yaml" for each in classes)]
    files = {f"Classes/{each}.yaml": content for each, content in classes.items()}
    content = {"manifest.yaml": "\n".join(lines) + "\n", "Resources/text": text}
    return Package.from_files(content | files)
