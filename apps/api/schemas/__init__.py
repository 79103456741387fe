"""What answers look like of which no class of documents has taken its place at the view yet."""

from apps.api.schemas import access, billing, money, payments, platforms
from apps.core.literal import Schema

ANSWERS: dict[str, Schema] = {**payments.ANSWERS, **money.ANSWERS, **access.ANSWERS, **billing.ANSWERS, **platforms.ANSWERS}
