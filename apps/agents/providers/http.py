"""An outside policy service, asked as Open Policy Agent is: POST {input}, allowed when result.allow is true and nothing else."""

import asyncio
import json
from dataclasses import dataclass

from apps.agents.providers.base import ProviderError, Question
from apps.core import net, posting
from apps.core.errors import ErrorCode

TIMEOUT_SECONDS = 5.0
HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "Tillgate/1.0"}


@dataclass(frozen=True)
class HttpPolicy:
    """`url` is the store's, set by staff; only public addresses are reached."""

    url: str

    is_local = False

    def allows(self, question: Question) -> bool:
        if not self.url:
            raise ProviderError(ErrorCode.UNAVAILABLE, "no address is set")
        answer = asyncio.run(self._ask(json.dumps({"input": question.told()}).encode()))
        if answer.status != 200:
            raise ProviderError(ErrorCode.UNREACHABLE, f"HTTP {answer.status}")
        try:
            told = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise ProviderError(ErrorCode.MALFORMED, "not JSON") from None
        result = told.get("result") if isinstance(told, dict) else None
        return isinstance(result, dict) and result.get("allow") is True

    async def _ask(self, body: bytes) -> posting.Answer:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), posting.open_session() as session:
                return await posting.post(session, self.url, body, HEADERS)
        except TimeoutError:
            raise ProviderError(ErrorCode.UNREACHABLE, "timeout") from None
        except (posting.NoAnswer, net.PrivateAddress) as error:
            raise ProviderError(ErrorCode.UNREACHABLE, type(error).__name__) from None
