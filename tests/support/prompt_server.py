"""`trundle` as a program whose servers look at what is installed twenty times a second, so that tests need not wait."""

from trundle.__main__ import main
from trundle.api import _succession

if __name__ == "__main__":
    _succession._EACH = 0.05
    main()
