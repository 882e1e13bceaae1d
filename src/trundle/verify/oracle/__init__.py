"""What conversions must lead to, read from schemas and rules alone; nothing here knows of plans.

This is a second, slower reading of the rules of conversion over plain JSON, to hold the first against. It shares
nothing with what plans and generates conversions, and says nothing where it is not sure: where hand-written hooks
decide, and where several results are right.
"""

from trundle.verify.oracle._edits import Edited, after_edit, leads_to
from trundle.verify.oracle._expected import ANY, Either, disagreements
from trundle.verify.oracle._meeting import HookedType, Rules, World
from trundle.verify.oracle._removing import stays
from trundle.verify.oracle._showing import shown_document
from trundle.verify.oracle._variants import changed_discriminators

__all__ = [
    "ANY",
    "Edited",
    "Either",
    "HookedType",
    "Rules",
    "World",
    "after_edit",
    "changed_discriminators",
    "disagreements",
    "leads_to",
    "shown_document",
    "stays",
]
