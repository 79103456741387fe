"""Imports that are put off where it is felt: parts of libraries that hardly any request asks for.

Of a web process with its routes loaded (PSS of 80 MB, 0.8 s of the processor): what models of
WebAuthn and OAuth name, 14 MB and 0.2 s; what checks signed tokens, 13 MB and 0.2 s; what reads
statements of the makers of passkeys, 15 MB once somebody adds one.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def postponed(*names: str) -> Iterator[None]:
    """In here `from` one of these `import` anything is put off until that is called or asked for an
    attribute.

    Good for functions and namespaces, not for what is subclassed or compared with. What is loaded
    already stays.
    """
    with _instead({name: _Later(name) for name in names}):
        yield


@contextmanager
def _instead(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    put = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(put)
    try:
        yield
    finally:
        for name, module in put.items():
            # Another thread may have been in here with us, and have loaded the real one since.
            if name in sys.modules and sys.modules[name] is module:
                del sys.modules[name]


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Thing(self.__name__, name)


class _Thing:
    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._found()(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found(), name)

    def _found(self) -> Any:
        module, name = self._place
        return getattr(import_module(module), name)
