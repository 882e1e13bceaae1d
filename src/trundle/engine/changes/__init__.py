"""What changed from one release of a package of classes to the next, and how far each change goes.

Class files alone are compared: what a package requires need not be there, and nothing of a package is run. The rules are those of the
package language's document on versions: what breaks callers is major, what is new or can break heirs is minor.
"""

from trundle.engine.changes._package import package_changes

__all__ = ["package_changes"]
