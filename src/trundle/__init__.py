"""Trundle keeps versioned things rolling forward without losing anything."""

__version__ = "0.1.0"
