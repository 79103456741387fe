"""Progress of a long task: on a terminal a bar with the seconds left, elsewhere a line now and
then. Standard library only."""

import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from typing import Self

from dev import running

WIDTH = 24
DRAWN_SECONDS = 0.2
TOLD_SECONDS = 10.0
# Nothing is printed of what is over sooner, nor before there is anything to judge by.
QUIET_SECONDS = 1.0


class ProgressBar:
    """Of one thing with a title. `share` is between 0 and 1; what is left is judged by what it took
    so far, or comes from a caller that knows better."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.share = 0.0
        self.seconds_left: float | None = None
        self._began = self._told = time.monotonic()
        self._over = threading.Event()
        self._drawing = threading.Thread(target=self._draw, daemon=True)

    def at(self, done: float, of: float) -> None:
        """So much of so much is done."""
        self.share = min(1.0, done / of) if of else 1.0

    def tick(self) -> None:
        """Called before each drawing, for what moves by itself."""

    def line(self) -> str:
        """The line: title, percent, seconds left."""
        percent = f"{self.share:.0%}"
        return f"{self.title}: {percent}{self._left()}"

    def bar(self, columns: int) -> str:
        """The bar, no wider than the terminal."""
        filled = round(self.share * WIDTH)
        drawn = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {self.share:4.0%}"
        return f"{drawn}{self._left()}  {self.title}"[: columns - 1]

    def _left(self) -> str:
        passed = time.monotonic() - self._began
        seconds = self.seconds_left
        if seconds is None:
            if not self.share or passed < QUIET_SECONDS:
                return ""
            seconds = passed / self.share - passed
        return f", about {seconds:.0f} s left" if seconds >= 1 else ", almost done"

    def _draw(self) -> None:
        is_terminal = running.is_terminal()
        while not self._over.wait(DRAWN_SECONDS):
            self.tick()
            now = time.monotonic()
            if is_terminal:
                running.keep_below(self.bar(shutil.get_terminal_size().columns))
            elif now - self._told >= TOLD_SECONDS:
                self._told = now
                running.say(self.line())

    def __enter__(self) -> Self:
        self._drawing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._drawing.join()
        running.keep_below("")


class OfLanes(ProgressBar):
    """Of steps in lanes side by side, each with the seconds that it is expected to take: the bar
    follows the clock within a step, and waits at its end."""

    def __init__(self, title: str, lanes: list[list[tuple[str, float]]]) -> None:
        super().__init__(title)
        self._plan = title
        self._lanes = lanes
        self._took: dict[str, float] = {}
        self._since: dict[str, float] = {}
        self._changing = threading.Lock()

    @contextlib.contextmanager
    def during(self, step: str) -> Iterator[None]:
        """While a step is at work."""
        with self._changing:
            self._since[step] = time.monotonic()
        yield
        with self._changing:
            self._took[step] = time.monotonic() - self._since.pop(step)

    def tick(self) -> None:
        with self._changing:
            since, took = dict(self._since), set(self._took)
        now = time.monotonic()
        total = sum(seconds for lane in self._lanes for _, seconds in lane)
        done, rests = 0.0, [0.0]
        for lane in self._lanes:
            rest = 0.0
            for step, seconds in lane:
                spent = seconds if step in took else min(now - since.get(step, now), seconds * 0.95)
                done += spent
                rest += seconds - spent
            rests.append(rest)
        self.at(done, total)
        self.seconds_left = max(rests)
        self.title = ", ".join(since) or self._plan
