"""What a library loads only because it is installed, and we never use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(*names: str) -> Iterator[None]:
    """In here these can't be imported, so that who asks for them goes on without them. What is loaded already stays."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None is how Python refuses an import
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
