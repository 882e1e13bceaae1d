"""Builds the site of this version beside those of other versions: `python docs/site/build.py FOLDER`.

Each version has a folder. `versions.json` lists them for the chooser on each page, and `index.html` leads to the newest.
"""

import json
import subprocess
import sys
from pathlib import Path

import trundle
from trundle.version import SemVer, VersionError

DOCS = Path(__file__).parents[1]
_LEAD = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Trundle</title>
<meta http-equiv="refresh" content="0; url={version}/index.html"></head>
<body><p><a href="{version}/index.html">Trundle {version}</a></p></body></html>
"""


def build(folder: Path) -> None:
    """Builds the pages of this version; a warning is an error."""
    target = folder / trundle.__version__
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    doctrees = folder.parent / "doctrees"
    options = ["-b", "html", "-c", str(DOCS / "site"), "-d", str(doctrees)]
    subprocess.run([*command, *options, str(DOCS), str(target)], check=True)
    versions = sorted(filter(None, map(_version, folder.iterdir())), reverse=True)
    listed = [str(each) for each in versions]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    newest = next((each for each in versions if not each.prerelease), versions[0])
    (folder / "index.html").write_text(_LEAD.format(version=newest))
    sys.stdout.write(f"wrote {target}\n")


def _version(folder: Path) -> SemVer | None:
    """The version whose pages a folder has; None where it has none."""
    try:
        return SemVer.parse(folder.name) if (folder / "index.html").is_file() else None
    except VersionError:
        return None


if __name__ == "__main__":
    try:
        build(Path(sys.argv[1]).absolute())
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
