"""The product's server with its static files, which a browser keeps from one test to the next
(decision 463)."""

from typing import Any

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.http import FileResponse, HttpRequest, HttpResponse

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
        answer = super().serve(request)
        answer.headers["Cache-Control"] = KEPT
        return answer
