"""Settings of a store that are in rows of other apps: defaults without a row, one log line for a
change of several, and one page of staff."""

from collections import Counter

import pytest

from apps.access.models import WaitingPeriodSettings
from apps.agents.models import AgentSettings
from apps.billing.models import InvoiceSettings
from apps.payouts.models import PayoutSettings
from apps.stores.models import AuditEntry, Store
from apps.stores.services import change_store
from apps.stores.settings import columns_of, settings_models, values_of
from tests import make
from tests.auditing import found_of
from tests.cast import Cast
from tests.staff.forms import save
from tests.staff.test_roles import signed_in

ROWS = (WaitingPeriodSettings, PayoutSettings, InvoiceSettings, AgentSettings)


def page_of(store: Store) -> str:
    return f"/admin/stores/store/{store.pk}/change/"


def test_no_two_rows_have_a_column_of_the_same_name() -> None:
    names = Counter(field.name for field in Store._meta.fields)
    names.update(name for model in settings_models() for name in columns_of(model))
    assert set(ROWS) <= set(settings_models())
    assert [name for name, number in names.items() if number > 1] == []


@pytest.mark.parametrize("model", ROWS)
def test_without_a_row_a_store_has_the_defaults(model: type[PayoutSettings], cast: Cast) -> None:
    row = model.of(cast.bakery.store)
    assert not model.objects.filter(store=cast.bakery.store).exists()
    assert [getattr(row, name) for name in columns_of(model)] == [
        model._meta.get_field(name).get_default() for name in columns_of(model)
    ]


def test_one_change_of_several_rows_is_one_line_of_the_audit_log(cast: Cast) -> None:
    store = cast.bakery.store
    wanted = {"fee_fraction": store.fee_fraction, "invoice_due_days": 30, "cooling_hours": 48}
    change_store(store, **wanted)
    assert values_of(store, list(wanted)) == wanted
    assert values_of(cast.strangers.store, ["invoice_due_days"]) == {"invoice_due_days": 7}
    line = AuditEntry.objects.get(action="store.changed", store_id=store.pk)
    assert line.details == {"invoice_due_days": [7, 30], "cooling_hours": [24, 48]}


def test_a_second_change_keeps_what_the_first_one_set(cast: Cast) -> None:
    store = cast.bakery.store
    change_store(store, review_new_destinations=True)
    change_store(store, payout_review_threshold_cents=500)
    row = PayoutSettings.of(store)
    assert (row.review_new_destinations, row.payout_review_threshold_cents) == (True, 500)


def test_staff_read_and_change_them_on_the_page_of_the_store(cast: Cast) -> None:
    store = change_store(cast.bakery.store, payout_review_threshold_cents=123_456)
    change_store(store, authorization_provider="policy")
    admins = signed_in(make.clerk("admin"))
    page = admins.get(page_of(store)).content.decode()
    assert (
        'value="1234.56"' in page
        and "Payouts are reviewed above (EUR)" in page
        and "Policy" in page
    )
    assert "Waiting period for new destinations" in page and "1 day" in page
    typed = {"payout_review_threshold_cents": "1000", "review_new_destinations": "on"}
    why = "Their contract"
    assert save(admins, page_of(store), why, **typed).status_code == 302
    answer = save(admins, page_of(store), "Agreed", invoice_due_days="14")
    assert answer.status_code == 302, answer.context["errors"]
    payouts = PayoutSettings.objects.get(store=store)
    assert (payouts.payout_review_threshold_cents, payouts.review_new_destinations) == (
        100_000,
        True,
    )
    assert InvoiceSettings.of(store).invoice_due_days == 14
    lines = AuditEntry.objects.filter(action="staff.changed", target_id=str(store.pk))
    line = lines.get(reason="Their contract")
    assert "Payouts are reviewed above" in str(line.details)

    assert found_of("settings_logged") == []
    PayoutSettings.objects.filter(store=store).update(payout_review_threshold_cents=1)
    (finding,) = found_of("settings_logged")
    assert finding.detail == ("payout_review_threshold_cents is 1, and the audit log says 100000")


def test_a_setting_that_no_column_takes_is_refused_at_its_field(cast: Cast) -> None:
    store = cast.bakery.store
    admins = signed_in(make.clerk("admin"))
    answer = save(admins, page_of(store), invoice_due_days="70000")
    assert answer.status_code == 200 and "32767" in answer.content.decode()
    assert InvoiceSettings.of(store).invoice_due_days == 7


def test_who_only_reads_is_shown_them(cast: Cast) -> None:
    store = change_store(cast.bakery.store, payout_review_threshold_cents=123_456)
    page = signed_in(make.clerk("support")).get(page_of(store)).content.decode()
    assert "€1,234.56" in page and 'name="payout_network_fee"' not in page
