"""What answers look like of which no class of documents has taken its place at the view yet."""

from apps.api.schemas import access, money, platforms
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {**money.ANSWERS, **access.ANSWERS, **platforms.ANSWERS}
