"""What a process has met among the objects that it read; until then, nothing has to be looked through for it."""


class Met:
    """Whether this process has read anything of a kind."""

    def __init__(self) -> None:
        self.any = False
