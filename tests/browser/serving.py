"""The product's server with its static files, which a browser keeps from one test to the next."""

from contextlib import suppress
from typing import Any

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import FileResponse, HttpRequest, HttpResponse
from django.test.testcases import LiveServerThread

from tests.browser.judging import AXE_ADDRESS, AXE_FILE
from tests.stacks import with_deep_stack

KEPT = "max-age=3600"


class Server(StaticFilesHandler):
    """Counts the answers that a browser may show again without asking, static files aside: what is
    there may be another test's."""

    kept_answers = 0

    @with_deep_stack
    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        def begin(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            told = dict(headers).get("Cache-Control", "")
            if "no-store" not in told and told != KEPT:
                Server.kept_answers += 1
            return start_response(status, headers, *more)

        return super().__call__(environ, begin)

    def serve(self, request: HttpRequest) -> HttpResponse | FileResponse:
        """No file changes while the tests run."""
        is_axe = request.path == AXE_ADDRESS
        answer = (
            FileResponse(AXE_FILE.open("rb"), content_type="text/javascript")
            if is_axe
            else super().serve(request)
        )
        answer.headers["Cache-Control"] = KEPT
        return answer


class Listener(ThreadedWSGIServer):
    """A thread for each connection of a browser, as Django's, but the thread's connection to the
    database outlives it: to open one takes twice what a page takes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._free: list[BaseDatabaseWrapper] = []

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with suppress(IndexError):  # none is free
            connections[DEFAULT_DB_ALIAS] = self._free.pop()
        super().process_request_thread(request, client_address)

    def _close_connections(self) -> None:
        kept = connections[DEFAULT_DB_ALIAS]
        if kept.connection is None:  # static files took none
            return
        kept.inc_thread_sharing()  # with the threads that come, one after the other
        self._free.append(kept)

    def server_close(self) -> None:
        super().server_close()
        while self._free:
            self._free.pop().close()


class ServerThread(LiveServerThread):
    server_class = Listener
