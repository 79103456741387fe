"""An outside policy service, asked as Open Policy Agent is: POST {input}, allowed when result.allow
is true and nothing else."""

import asyncio
from dataclasses import dataclass

import msgspec
from msgspec import DecodeError, Struct, ValidationError

from apps.agents.providers.base import ProviderError, Question
from apps.core.errors import ErrorCode
from apps.core.messages.fields import is_deeper
from apps.core.outbound import net
from apps.core.outbound import strangers as posting

TIMEOUT_SECONDS = 5.0
DEPTH_MAX = 32
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "User-Agent": "Tillgate/1.0",
}


class PolicyResult(Struct, frozen=True):
    allow: bool = False


class PolicyAnswer(Struct, frozen=True):
    """Open Policy Agent's answer, as far as it counts."""

    result: PolicyResult = PolicyResult()


@dataclass(frozen=True)
class HttpPolicy:
    """`url` is the store's, set by staff; only public addresses are reached."""

    url: str

    is_local = False

    def allows(self, question: Question) -> bool:
        if not self.url:
            raise ProviderError(ErrorCode.UNAVAILABLE, "no address is set")
        answer = asyncio.run(self._ask(msgspec.json.encode({"input": question.document()})))
        if answer.status != 200:
            raise ProviderError(ErrorCode.UNREACHABLE, f"HTTP {answer.status}")
        if is_deeper(answer.body, DEPTH_MAX):
            raise ProviderError(ErrorCode.MALFORMED, "nested too deeply")
        try:
            decoded = msgspec.json.decode(answer.body)
        except DecodeError:
            raise ProviderError(ErrorCode.MALFORMED, "not JSON") from None
        try:
            return msgspec.convert(decoded, PolicyAnswer).result.allow
        except ValidationError:
            return False

    async def _ask(self, body: bytes) -> posting.Answer:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), posting.open_session() as session:
                return await posting.post(session, self.url, body, HEADERS)
        except TimeoutError:
            raise ProviderError(ErrorCode.UNREACHABLE, "timeout") from None
        except (posting.NoAnswer, net.PrivateAddress) as error:
            raise ProviderError(ErrorCode.UNREACHABLE, type(error).__name__) from None
