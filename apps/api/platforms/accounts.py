"""/platform/accounts: the sub-merchants of a platform, opened, read, changed, closed, opened again,
and attested."""

from collections.abc import Mapping
from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.platforms.plumbing import PlatformView
from apps.api.plumbing.queries import Query
from apps.api.plumbing.refusals import (
    AnyErrors,
    BlockedOrNot,
    ErrorDocument,
    ErrorShape,
    ErrorTexts,
    Refused,
)
from apps.core.errors import Failure
from apps.platforms import selectors
from apps.platforms.documents import (
    AccountVerificationDocument,
    PlatformAccountDocument,
    account_document,
    verification_document,
)
from apps.platforms.requests import AccountChanges, AccountRequest, VerificationRequest
from apps.platforms.services import accounts, verifications
from apps.stores.models import Store


class InvalidAccount(Failure):
    code = "invalid_account"


class InvalidVerification(Failure):
    code = "invalid_verification"


class AccountFilters(Query, frozen=True, kw_only=True):
    external_id: str | None = None


class AccountView(PlatformView):
    shape = ErrorDocument
    broken_rule: ClassVar[type[Failure]] = InvalidAccount
    shapes: ClassVar[Mapping[type[Failure], ErrorShape]] = {accounts.ExternalIdTaken: ErrorTexts}
    wrapper = "account"
    missing = selectors.AccountNotFound()

    def told(self, account: Store, status: int = 200) -> Response:
        return Response(
            account_document(selectors.described_account(self.access, account)), status=status
        )


class Accounts(AccountView):
    """Open a sub-merchant account, or list the active ones newest first."""

    query = AccountFilters
    bodies = {"POST": AccountRequest}
    answers = {"GET": list[PlatformAccountDocument], "POST": PlatformAccountDocument}
    also = {"POST": {200: PlatformAccountDocument}}
    statuses = {"POST": 201}

    def get(self, request: Request) -> Response:
        rows = selectors.accounts_of(self.access)
        external_id = AccountFilters.read(request.query_params).external_id
        if external_id is not None:
            rows = rows.filter(external_id=external_id.replace("\x00", ""))
        return Response(
            [
                account_document(account)
                for account in selectors.described(self.access, rows[: selectors.LIST_MAX])
            ]
        )

    def post(self, request: Request) -> Response:
        account, is_new = accounts.create_account(self.access, self.read(request, AccountRequest))
        return self.told(account, 201 if is_new else 200)


class AccountById(AccountView):
    """Read, change or close a sub-merchant account."""

    asks_for_code = True
    asks_on = ("DELETE",)
    bodies = {"PATCH": AccountChanges}
    answers = {"GET": PlatformAccountDocument, "PATCH": PlatformAccountDocument}
    further = {
        "PATCH": {422: Refused("A rule is broken; the message names the field", AnyErrors)},
        "DELETE": {409: Refused("The account can't be closed yet", BlockedOrNot)},
    }
    statuses = {"DELETE": 204}

    def get(self, request: Request, id: str) -> Response:
        return self.told(selectors.find_account(self.access, id))

    def patch(self, request: Request, id: str) -> Response:
        self.body(request)  # what can't be read is reported before an account that isn't there
        account = selectors.find_account(self.access, id)
        return self.told(
            accounts.update_account(self.access, account, self.read(request, AccountChanges))
        )

    def delete(self, request: Request, id: str) -> Response:
        accounts.delete_account(self.access, id)
        return Response(status=204)


class Restore(AccountView):
    """Open a closed account again."""

    bodies = {"POST": None}
    answers = {"POST": PlatformAccountDocument}

    def post(self, request: Request, id: str) -> Response:
        return self.told(accounts.restore_account(self.access, id))


class Verifications(AccountView):
    """Attest what the platform knows of the business; a person decides."""

    broken_rule = InvalidVerification
    wrapper = "verification_request"
    wrapper_is_optional = True
    bodies = {"POST": VerificationRequest}
    answers = {"POST": AccountVerificationDocument}
    statuses = {"POST": 201}

    def post(self, request: Request, id: str) -> Response:
        account = selectors.find_account(self.access, id)
        order = self.read(request, VerificationRequest)
        return Response(
            verification_document(verifications.submit_verification(account, order)), status=201
        )
