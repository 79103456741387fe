"""A registry for demos and test mode, which asks nobody: every number of the right form is valid
but those whose digits begin with these.

What it answers is in the words of VIES, so that anyone who reads an answer reads the same.
"""

from apps.billing.providers.base import RegistryAnswer
from apps.core.errors import ErrorCode, ProviderError

# After the prefix of the country.
INVALID = "00"
AWAY = "99"
REQUEST_IDENTIFIER = "WAPITEST0000000001"


class LocalRegistry:
    def check(self, number: str, requester_number: str) -> RegistryAnswer:
        digits = "".join(letter for letter in number[2:] if letter.isdigit())
        if digits.startswith(AWAY):
            raise ProviderError(ErrorCode.UNREACHABLE, "MS_UNAVAILABLE")
        is_valid = not digits.startswith(INVALID)
        consultation_number = REQUEST_IDENTIFIER if requester_number and is_valid else ""
        answer = {
            "countryCode": number[:2],
            "vatNumber": number[2:],
            "valid": is_valid,
            "requestIdentifier": consultation_number,
            "name": "Test company" if is_valid else "---",
            "address": "Test street 1" if is_valid else "---",
        }
        return RegistryAnswer(
            is_valid,
            name="Test company" if is_valid else "",
            address="Test street 1" if is_valid else "",
            consultation_number=consultation_number,
            answer=answer,
        )
