"""Object models that are carried from one version of a package to another, and back."""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.models._convert import ConvertedModel, convert_model
    from trundle.models._errors import ModelCode, ModelError
    from trundle.models._targets import Target, targets

__all__ = ["ConvertedModel", "ModelCode", "ModelError", "Target", "convert_model", "targets"]

on_demand(__name__)
