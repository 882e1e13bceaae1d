"""Small packages of classes."""

from trundle.packages import Package


def bundle(name, version="1.0.0", needs=None, text="", **files):
    """A package.

    Args:
        name: its full name.
        version: its version.
        needs: ranges by the name of a package.
        text: what makes its content different.
        files: further files by their path, with `_` for `/`.
    """
    lines = ["Format: '1.0'", "Type: Library", f"FullName: {name}", f"Version: {version}"]
    if needs:
        lines += ["Require:", *(f"  {each}: '{spec}'" for each, spec in needs.items())]
    content = {"manifest.yaml": "\n".join(lines) + "\n", "Resources/text": text}
    return Package.from_files(
        content | {key.replace("_", "/"): each for key, each in files.items()}
    )
