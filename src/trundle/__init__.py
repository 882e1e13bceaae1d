"""Trundle converts between schema versions without losing data."""

__version__ = "0.1.0"
