"""Release channels."""
