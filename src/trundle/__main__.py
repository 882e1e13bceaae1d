"""Runs the command line: the `trundle` command, and `python -m trundle`."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Runs the command that the arguments name; ends the process with its exit code.

    Without the extra `trundle[cli]`, ends with a message that says how to install it.
    """
    try:
        _run()
    except KeyboardInterrupt:  # While the command line is imported; it reports what comes later.
        sys.exit(_INTERRUPTED)


def _run() -> None:
    try:
        from trundle.cli import main as run  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        from trundle.errors import expectation  # noqa: PLC0415

        if error.name is None or error.name.partition(".")[0] == "trundle":
            raise
        advice = "run: python -m pip install 'trundle[cli]'"
        sys.exit(
            f"error: {expectation('what the trundle command needs', f'no {error.name}', advice)}"
        )
    run()


def kubectl_trundle() -> None:
    """Runs `kubectl trundle`, which is `trundle kube installed`."""
    sys.argv[:1] = ["trundle", "kube", "installed"]  # Help names the command that it is.
    main()


if __name__ == "__main__":
    main()
