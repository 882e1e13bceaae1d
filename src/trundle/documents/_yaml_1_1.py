"""What YAML 1.1 takes scalars without quotes for, where files were always written for it: `yes` is true, and `010` is eight."""

from typing import Any

import yaml

from trundle.documents._compose import TAG

_RESOLVER: Any = yaml.SafeLoader("")


def kind_in_yaml_1_1(text: str) -> str:
    """The kind of a scalar without quotes or a tag, by the name of its tag.

    Returns:
        `null`, `bool`, `int`, `float`, `timestamp`, `merge`, `value`, or `str`.
    """
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False))).removeprefix(TAG)


def value_in_yaml_1_1(text: str, kind: str) -> Any:
    """The value of a scalar without quotes.

    Args:
        text: the scalar.
        kind: `null`, `bool`, `int` or `float`, as `kind_in_yaml_1_1` gives it for this text.

    Raises:
        ValueError: Python does not read the number, such as one of very many digits.
    """
    return _RESOLVER.yaml_constructors[TAG + kind](_RESOLVER, yaml.ScalarNode(TAG + kind, text))
