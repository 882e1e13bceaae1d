"""Forms for tests: sources that count, and one form around some fields."""

import itertools

from trundle.forms import Sources, fill, form_of


def counted():
    numbers = itertools.count(1)
    return Sources(lambda: f"id-{next(numbers)}", lambda: f"host{next(numbers)}")


def form_with(*fields, version="2.1", application="", extra=""):
    """A form with one step, `main`."""
    listed = "".join(f"        - {each}\n" for each in fields)
    lines = f"Version: {version}\n{extra}Application:\n  ?: {{type: a.App}}\n{application}"
    if not fields:
        listed = "        []\n"
    return form_of(f"{lines}Forms:\n  - main:\n      fields:\n{listed}", "ui.yaml", "org.shop.App")


def answered(form, parameters=None, **values):
    return fill(form, {"main": values}, counted(), parameters, "values.yaml")
