"""Room for deep calls beneath the test runner.

CPython keeps the frames of a thread in pieces of 16 KiB and gives a piece back to the kernel as
soon as its first frame ends. Code that calls across the end of a piece again and again maps and
unmaps memory each time. Beneath pytest, requests did: half of all page faults, a quarter of the
processor time of the tests. So do those of the browser tests' server where a frame more or less
decides about it: a QR code took 0.2 s instead of 0.01. Production's don't.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
# Half a MiB, in slots of eight bytes: the piece is a MiB. What the frame itself doesn't touch is
# never given memory.
_SLOTS = 70_000


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*arguments, **options)


_call_with_room = FunctionType(_call.__code__.replace(co_stacksize=_SLOTS), globals())


def with_deep_stack(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The function, with one piece of half a MiB for the frames of all that it calls."""

    @wraps(function)
    def call(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        result: Result = _call_with_room(function, arguments, options)
        return result

    return call
