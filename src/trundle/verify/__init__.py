"""Proves that nothing is lost: generated values of any generated class, and the laws of conversion."""

try:
    import hypothesis as _hypothesis
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError(
        "trundle.verify needs hypothesis; run: python -m pip install 'trundle[verify]'"
    ) from error

from trundle.verify._broken import LawBroken
from trundle.verify._edit_laws import law3, law5, law_of_edits
from trundle.verify._edits import edits
from trundle.verify._hop_laws import law_hops
from trundle.verify._laws import (
    law1,
    law2,
    law4,
    law6,
    law_agreement,
    law_identity,
    law_nested,
    law_same_version,
    law_upgrade,
    laws,
)
from trundle.verify._profiles import examples, some_examples
from trundle.verify._stored import (
    documents,
    earlier_objects,
    object_class,
    storage_class,
    stored_objects,
)
from trundle.verify._values import objects, values

__all__ = [
    "LawBroken",
    "documents",
    "earlier_objects",
    "edits",
    "examples",
    "law1",
    "law2",
    "law3",
    "law4",
    "law5",
    "law6",
    "law_agreement",
    "law_hops",
    "law_identity",
    "law_nested",
    "law_of_edits",
    "law_same_version",
    "law_upgrade",
    "laws",
    "object_class",
    "objects",
    "some_examples",
    "storage_class",
    "stored_objects",
    "values",
]

del _hypothesis
