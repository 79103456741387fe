"""The command line, which needs the extra `cli`."""

import sys


def main() -> None:
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("The command line needs the extra: pip install 'tillgate[cli]'")
    sys.exit(run())
