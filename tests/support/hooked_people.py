"""A package whose releases have hooks: people, with first and last names, and then with full ones."""

from engines import package

from trundle.packages import Package

PERSON1 = """
Properties:
  first: {Contract: $.string()}
  last: {Contract: $.string()}
  size: {Contract: $.string()}
  limits: {Contract: {cpu: $.int(), ram: $.int()}}
"""
PERSON2 = """
Properties:
  full: {Contract: $.string()}
  size: {Contract: $.int()}
  limits: {Contract: {ram: $.int()}}
  cores: {Contract: $.int()}
"""
NAMES = """
Properties:
  calls: {Contract: $.int(), Usage: Static, Default: 0}
Methods:
  join:
    Usage: Static
    Scope: Public
    Arguments:
      - first: {Contract: $.string(), Default: ''}
      - last: {Contract: $.string(), Default: ''}
      - limits__cpu: {Contract: $.int()}
    Body:
      - $found: {full: $first + ' ' + $last}
      - If: $limits__cpu != null
        Then: [{$found.cores: $limits__cpu * 2}]
      - Return: $found
  split:
    Usage: Static
    Scope: Public
    Arguments: [{full: {Contract: $.string(), Default: ''}}, {cores: {Contract: $.int()}}]
    Body:
      - $found: {first: $full.split(' ').first(), last: $full.split(' ').last()}
      - If: $cores != null
        Then: [{$found.limits__cpu: $cores / 2}]
      - Return: $found
  toNumber:
    Usage: Static
    Scope: Public
    Arguments: [{value: {Contract: $.string()}}]
    Body:
      - Match: {small: [{Return: 1}], large: [{Return: 10}]}
        Value: $value
        Default: [{Return: int($value)}]
  toText:
    Usage: Static
    Scope: Public
    Arguments: [{value: {Contract: $.int()}}]
    Body:
      Return: str($value)
"""
BEGIN = "- $found: {full: $first + ' ' + $last}"
RETURN = "      - Return: $found\n"
HOOKS = """
hooks:
  1.0.0:
    p.Person:
      assign_to: {use: p.Names.join, writes: [full, cores]}
      assign_from: {use: p.Names.split, writes: [first, last, limits.cpu]}
      convert_string_to_integer: p.Names.toNumber
      convert_integer_to_string: p.Names.toText
"""
SPLIT = "- $found: {first: $full.split(' ').first(), last: $full.split(' ').last()}"
TOTAL = (
    NAMES.replace(BEGIN, """- $found: {full: "coalesce($first, '') + ' ' + coalesce($last, '')"}""")
    .replace(
        SPLIT,
        """- $name: coalesce($full, '')
      - $found: {first: $name.split(' ').first(), last: $name.split(' ').last()}""",
    )
    .replace("Default: [{Return: int($value)}]", "Default: [{Return: len($value)}]")
)
"""Hooks that take whatever values there are."""


def ruled(found, rules):
    files = {name: found.file(name) for name in found.files}
    return Package.from_files({**files, "evolution.yaml": rules})


def people(names=NAMES, hooks=HOOKS, person=PERSON2):
    one = package("p", "1.0.0", classes={"p.Person": PERSON1})
    two = package("p", "2.0.0", classes={"p.Person": person, "p.Names": names}, Format="'1.4'")
    return [one, ruled(two, hooks)]
