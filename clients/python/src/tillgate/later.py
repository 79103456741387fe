"""A module of ours that is loaded when something of it is first asked for: the classes of documents
take longer than all else, and the command line needs none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name, __package__), name)
