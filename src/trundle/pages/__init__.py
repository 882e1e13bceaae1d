"""Pages about packages, for those who use them: HTML and Markdown for each version, which any web server or browser can show.

A site has a folder for each package and in it one for each version. The pages of a version are written once; what they say of
versions that come later is read from a list beside them.
"""

from trundle.pages._described_version import DescribedVersion, describe, prepare
from trundle.pages._errors import NoSiteError, OtherContentError, PagesCode, PagesError
from trundle.pages._site import Written, write_site

__all__ = [
    "DescribedVersion",
    "NoSiteError",
    "OtherContentError",
    "PagesCode",
    "PagesError",
    "Written",
    "describe",
    "prepare",
    "write_site",
]
