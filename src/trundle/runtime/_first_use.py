"""What is made on first use is made by one thread at a time."""

import threading

FIRST_USE = threading.RLock()
"""Held while modules of a package are imported, and while a decoder is made.

Modules that import each other can stop two threads that import them for good. msgspec keeps what it knows of a class
with the class while it is still finding that out, so a second thread could use half of it.
"""
