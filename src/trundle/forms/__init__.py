"""Forms of packages: what they ask, whether answers fit, and the object model that these describe.

The room takes and returns values: no files, no terminal. New ids and names are passed in, `Sources.random()` for those of this machine.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.forms._conversion import ConvertedForm, converted
    from trundle.forms._errors import FormChoiceError, FormCode, FormError
    from trundle.forms._evaluation import Sources
    from trundle.forms._filling import Filled, Filling, Hidden, default_of, fill
    from trundle.forms._json_schema import json_schema
    from trundle.forms._model import (
        NEWEST,
        Check,
        Choice,
        Definition,
        Field,
        FieldType,
        Form,
        FormVersion,
        Step,
    )
    from trundle.forms._packaged import (
        check_forms,
        form_files,
        form_of_package,
        packaged_form,
        parameters_of,
    )
    from trundle.forms._reading import Reading, form_of, read_form

__all__ = [
    "NEWEST",
    "Check",
    "Choice",
    "ConvertedForm",
    "Definition",
    "Field",
    "FieldType",
    "Filled",
    "Filling",
    "Form",
    "FormChoiceError",
    "FormCode",
    "FormError",
    "FormVersion",
    "Hidden",
    "Reading",
    "Sources",
    "Step",
    "check_forms",
    "converted",
    "default_of",
    "fill",
    "form_files",
    "form_of",
    "form_of_package",
    "json_schema",
    "packaged_form",
    "parameters_of",
    "read_form",
]

on_demand(__name__)
