"""The contestant for generation: `datamodel-code-generator`, which makes models and nothing else."""

import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml


def generate_models(files: Iterable[Path], folder: Path) -> tuple[float, int]:
    """Makes models of JSON Schema files as the generator does by default, one module for each file.

    Azure's deployment schemas keep resources beside the definitions; they are put among these, where the
    generator looks. The expressions of a template that may stand in place of a value are left out, as
    Trundle leaves them out.

    Returns:
        The processor's seconds, and how many bytes came out.
    """
    from datamodel_code_generator import DataModelType, InputFileType, generate  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    seconds, size = 0.0, 0
    for number, path in enumerate(files):
        text = json.dumps(_plain(yaml.safe_load(path.read_text())))
        output = folder / f"models_{number}.py"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # other formatters will be the default
            start = time.process_time()
            generate(
                text,
                input_filename=path.name,
                input_file_type=InputFileType.JsonSchema,
                output=output,
                output_model_type=DataModelType.PydanticV2BaseModel,
            )
            seconds += time.process_time() - start
        size += output.stat().st_size
    return seconds, size


def _plain(document: Any) -> Any:
    resources = document.pop("resourceDefinitions", {})
    if resources:
        document["definitions"] = {**document.get("definitions", {}), **resources}
    return _without_expressions(document)


def _without_expressions(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_expressions(each) for each in value if not _is_expression(each)]
    if _is_expression(value):
        return {}
    if isinstance(value, dict):
        return {key: _without_expressions(each) for key, each in value.items()}
    return value


def _is_expression(value: Any) -> bool:
    reference = value.get("$ref") if isinstance(value, dict) else None
    return isinstance(reference, str) and reference.startswith("https:")
