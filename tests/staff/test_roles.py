"""Permissions of staff: every page and button of the staff site is a row of one table, and each
role gets that and no more."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory

from apps.assets.models import AcceptedAsset, Asset
from apps.core import clock
from apps.payments.models import Withdrawal
from apps.payouts.services.caps import set_store_cap
from apps.payouts.services.destinations import add_bank
from apps.platforms.requests import PlatformAccess, VerificationRequest
from apps.platforms.services.access_requests import request_access
from apps.platforms.services.verifications import submit_verification
from apps.staff.decisions.kinds import KINDS
from apps.staff.decisions.queues import Queue
from apps.staff.decisions.store_forms import FORMS
from apps.staff.pages import Part, ReadOnly
from apps.stores import staff_roles
from apps.stores.models import Store, User, WorkerOrder
from apps.stores.services import change_store
from apps.stores.staff_roles import TABLE, StaffOperation, StaffRole
from tests import make
from tests.cast import Cast, assemble
from tests.dashboard.browse import Browser, text
from tests.platforms.makers import VERIFICATION
from tests.staff.forms import StaffBrowser
from tests.stage import standing

ROOT = Path(__file__).resolve().parents[2]
REGISTRY: dict[str, Any] = {
    f"{model._meta.app_label}/{model._meta.model_name}": item
    for model, item in admin.site._registry.items()
}
QUEUES = {name: item for name, item in REGISTRY.items() if isinstance(item, Queue)}
FORMS_OF_ROWS = {name: item for name, item in REGISTRY.items() if item.operation is not None}
ROLES = [(), *((role,) for role in StaffRole.values)]


def operation_of(button: Any) -> StaffOperation | None:
    found: StaffOperation | None = getattr(button, "operation", None)
    return found


def buttons(one: Any) -> dict[str, Any]:
    return {
        name: getattr(type(one), name) if isinstance(name, str) else name
        for name in one.actions or ()
    }


BUTTONS = [
    (page, name, operation_of(function))
    for page, item in REGISTRY.items()
    for name, function in buttons(item).items()
]


# --- the house ------------------------------------------------------------------------------------


def unknown(one: Any) -> list[str]:
    """Operations that a page would let somebody do and that aren't a row of the table."""
    found = [
        str(name) for name, function in buttons(one).items() if operation_of(function) not in TABLE
    ]
    found += [
        part.__name__
        for part in one.inlines
        if not issubclass(part, Part) or part.operation not in (None, *TABLE)
    ]
    if not isinstance(one, ReadOnly) or one.operation not in (None, *TABLE):
        found.append("its form")
    if isinstance(one, Queue) and {one.approving, one.rejecting} - set(TABLE):
        found.append("its decision")
    for name in (
        "has_add_permission",
        "has_change_permission",
        "has_delete_permission",
        "has_view_permission",
        "get_actions",
    ):
        if getattr(type(one), name) is not getattr(ReadOnly, name):
            found.append(name)
    return found


@pytest.mark.parametrize("page", REGISTRY)
def test_a_page_of_the_staff_site_does_nothing_that_is_not_in_the_table(page: str) -> None:
    assert unknown(REGISTRY[page]) == []


def test_the_rule_finds_a_button_and_a_form_that_are_not() -> None:
    class Bad(admin.ModelAdmin):  # type: ignore[type-arg]
        actions = ["give"]

        def give(self, request: Any, rows: Any) -> None:
            """Money away."""

    assert {"give", "its form", "has_change_permission"} <= set(unknown(_registered(Bad)))


def _registered(bad: type[Any]) -> Any:
    made = bad(Store, admin.site)
    made.operation = None
    return made


def test_every_row_is_asked_for_somewhere_and_what_takes_two_has_a_kind() -> None:
    text = "".join(
        path.read_text() for path in (ROOT / "apps").rglob("*.py") if path.name != "staff_roles.py"
    )
    names = {name for name, value in vars(staff_roles).items() if isinstance(value, StaffOperation)}
    assert {name for name in names if f"roles.{name}" not in text} == set()
    by_two = {row.name for row in TABLE if row.people != staff_roles.ONE}
    assert by_two == {kind.operation.name for kind in KINDS.values()} | {
        staff_roles.WITHDRAWAL.name
    }
    assert len({row.name for row in TABLE}) == len(TABLE)


# --- the matrix -----------------------------------------------------------------------------------


def signed_in(user: User) -> Browser:
    """With a code a moment ago. (Signing in of staff is tested in tests/staff/test_sign_in.py.)"""
    browser = StaffBrowser(user)
    browser.prove()
    return browser


def rows(cast: Cast) -> dict[str, Any]:
    """One row of each form and queue."""
    store = cast.bakery.store
    make.store_coins(store, "SETH", 10**18)
    change_store(store, payout_review_threshold_cents=0)
    return {
        "stores/user": cast.bob.pk,
        "stores/store": store.pk,
        "assets/chain": "sepolia",
        "assets/asset": "SETH",
        "payouts/storepayoutcap": set_store_cap(store, "SETH", daily_atomic=10**18).pk,
        "payouts/payout": make.payout(cast.bakery.test, 10**16)["id"],
        "platforms/accessrequest": request_access(
            cast.bakery.access(), PlatformAccess(reason="A market hall")
        ).pk,
        "stores/verification": submit_verification(store, VerificationRequest(**VERIFICATION)).pk,
        "stores/workerorder": WorkerOrder.objects.create(
            kind="correction",
            target_id="x",
            mode="test",
            name="x",
            reason="x",
            asked_at=store.created_at,
        ).pk,
        "payments/withdrawal": withdrawal().pk,
        "payouts/destination": add_bank(
            store, "test", currency="EUR", holder="Alice", account="DE89370400440532013000"
        ).pk,
        "assets/acceptedasset": AcceptedAsset.objects.get(
            store=store, mode="test", asset="SETH"
        ).pk,
    }


def withdrawal() -> Withdrawal:
    """Of one coin that was never earned, so nobody can let it go."""
    asset = Asset.objects.get(pk="SETH")
    row: Withdrawal = Withdrawal.objects.create(
        reference=uuid.uuid4().hex,
        asset=asset,
        mode=asset.mode,
        amount_atomic=10**18,
        to_address="0x" + "a1" * 20,
        reason="Salaries",
        requested_by=make.clerk("finance"),
        requested_at=clock.real_now(),
    )
    return row


def asked_rows() -> tuple[Cast, dict[str, Any]]:
    cast = assemble()
    return cast, rows(cast)


@pytest.fixture(scope="module")
def asked(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Cast, dict[str, Any]]]:
    yield from standing(django_db_blocker, asked_rows)


@pytest.fixture
def cast(asked: tuple[Cast, dict[str, Any]], db: None) -> Cast:
    return asked[0].again()


@pytest.fixture
def made(asked: tuple[Cast, dict[str, Any]], db: None) -> dict[str, Any]:
    return asked[1]


def allows(operation: StaffOperation | None, roles: tuple[str, ...]) -> bool:
    return operation is not None and not operation.roles.isdisjoint(roles)


def staff_in(roles: tuple[str, ...]) -> User:
    person = make.clerk()
    User.objects.filter(pk=person.pk).update(staff_roles=list(roles))
    person.refresh_from_db()
    return person


@pytest.mark.parametrize("roles", ROLES, ids=lambda roles: "+".join(roles) or "none")
def test_each_role_sees_and_is_offered_what_the_table_says(
    roles: tuple[str, ...], db: None
) -> None:
    """That every list is shown is tested in tests/growth/test_statements.py and tests/browser."""
    person = staff_in(roles)
    request = _asked_by(person)
    for page, item in REGISTRY.items():
        assert item.has_view_permission(request) == bool(roles), page
        assert not item.has_add_permission(request), page
        offered = item.get_actions(request)
        assert set(offered) == {
            name for on, name, operation in BUTTONS if on == page and allows(operation, roles)
        }, page


@pytest.mark.whole
@pytest.mark.parametrize("role", StaffRole.values)
def test_every_list_is_shown_and_has_no_form_for_more(role: str, cast: Cast) -> None:
    browser = signed_in(make.clerk(role))
    for page in REGISTRY:
        assert browser.get(f"/admin/{page}/").status_code == 200, page
        assert browser.get(f"/admin/{page}/add/").status_code == 403, page


def test_who_has_no_role_is_shown_nothing(cast: Cast) -> None:
    browser = signed_in(staff_in(()))
    for page in REGISTRY:
        assert browser.get(f"/admin/{page}/").status_code != 200, page


@pytest.mark.parametrize("roles", ROLES[1:], ids="+".join)
def test_each_role_does_what_the_table_says_and_no_more(
    roles: tuple[str, ...], made: dict[str, Any]
) -> None:
    assert set(made) == set(FORMS_OF_ROWS) | set(QUEUES)
    browser = signed_in(staff_in(roles))
    assert browser.get("/admin/stores/store/").status_code == 200
    assert browser.get("/admin/stores/store/add/").status_code == 403
    for page, item in FORMS_OF_ROWS.items():
        answer = browser.post(f"/admin/{page}/{made[page]}/change/")
        assert (answer.status_code != 403) == allows(item.operation, roles), page
    for page, item in QUEUES.items():
        assert browser.get(f"/admin/{page}/{made[page]}/decide/").status_code == 200
        for decision, operation in (("approve", item.approving), ("reject", item.rejecting)):
            if not allows(operation, roles):
                answer = browser.post(
                    f"/admin/{page}/{made[page]}/decide/", decision=decision, reason="x"
                )
                assert answer.status_code == 403, page
    shown = browser.get("/admin/payments/withdrawal/ask/").status_code
    assert (shown == 200) == allows(staff_roles.WITHDRAWAL, roles)
    for kind, form in FORMS.items():
        assert form.kind is not None
        shown = browser.get(f"/admin/stores/staffrequest/ask/{kind}/").status_code
        assert (shown == 200) == allows(form.kind.operation, roles), kind


def _asked_by(person: User) -> Any:
    request = RequestFactory().get("/admin/")
    request.user = person
    return request


@pytest.mark.parametrize(
    ("page", "name", "operation"), BUTTONS, ids=lambda one: str(getattr(one, "name", one))
)
def test_a_button_that_somebody_presses_without_being_offered_it_does_nothing(
    page: str, name: str, operation: StaffOperation, db: None
) -> None:
    request = _asked_by(
        make.clerk(*(role for role in StaffRole.values if role not in operation.roles))
    )
    with pytest.raises(PermissionDenied):
        buttons(REGISTRY[page])[name](REGISTRY[page], request, None)


def test_who_may_not_decide_reads_and_is_told_so(made: dict[str, Any]) -> None:
    payout = made["payouts/payout"]
    shown = text(signed_in(make.clerk("support")).get(f"/admin/payouts/payout/{payout}/decide/"))
    assert "Your staff role can view this" in shown and "Approve" not in shown


def test_a_superuser_has_every_role_and_who_was_switched_off_none(db: None) -> None:
    boss = User.objects.create_superuser("boss@example.com", "pw-0123456789")
    assert staff_roles.roles_of(boss) == staff_roles.ALL_ROLES
    for change in ({"is_active": False}, {"is_staff": False}):
        changed = User.objects.get(pk=boss.pk)
        for name, value in change.items():
            setattr(changed, name, value)
        assert staff_roles.roles_of(changed) == frozenset()


def test_switching_an_account_off_takes_its_roles_and_somebody_stays_admin(cast: Cast) -> None:
    first = make.clerk("admin")
    second = make.clerk("admin", "finance")
    browser = signed_in(first)
    page = "/admin/stores/user/{}/change/"
    assert browser.post(page.format(second.pk), name="Gone", reason="Left us").status_code == 302
    second.refresh_from_db()
    assert (second.is_active, second.is_staff, second.staff_roles, second.name) == (
        False,
        False,
        [],
        "Gone",
    )
    refused = browser.post(page.format(first.pk), name="Me", reason="x")
    assert refused.status_code == 200 and "the only admin" in text(refused)
    assert (
        browser.post(
            page.format(second.pk), name="Back", is_active="on", reason="Is back"
        ).status_code
        == 302
    )
    second.refresh_from_db()
    assert (second.is_active, staff_roles.roles_of(second)) == (True, frozenset())


# --- what people read ---

DOCUMENT = ROOT / "docs" / "security.md"
BEGIN = "<!-- staff operations: written by WRITE_OPERATIONS=1 -->"
END = "<!-- end of staff operations -->"


def rendered() -> str:
    yes: Callable[[StaffOperation, str], str] = lambda row, role: (  # noqa: E731
        "yes" if role in row.roles else "no"
    )
    head = ["What", *(role.capitalize() for role in StaffRole.values), "People"]
    lines = [
        head,
        ["---"] * len(head),
        *([row.does, *(yes(row, role) for role in StaffRole.values), row.people] for row in TABLE),
    ]
    return "\n".join([BEGIN, *("| " + " | ".join(cells) + " |" for cells in lines), END])


def test_the_document_has_the_table_as_it_is() -> None:
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    if os.environ.get("WRITE_OPERATIONS"):
        DOCUMENT.write_text(f"{before}{rendered()}{after}")
    assert f"{before}{rendered()}{after}" == DOCUMENT.read_text()
