"""A save on the staff site that changes no number leaves in force what the audit log has said."""

import re

from django.db import connection

from apps.assets.models import Asset
from apps.assets.services import change_asset
from apps.stores.models import AuditEntry
from tests import make
from tests.auditing import found_of
from tests.cast import Cast
from tests.console.plantings.rows import ELSEWHERE
from tests.dashboard.browse import text
from tests.staff.test_roles import signed_in

PAGE = "/admin/assets/asset/USDT_SETH/change/"
INVARIANT = "settings_logged"


def test_a_save_without_changes_ends_no_comparison(cast: Cast) -> None:
    change_asset("USDT_SETH", contract_address="0x" + "5b" * 20)
    browser = signed_in(make.clerk("admin"))
    form = text(browser.get(PAGE))
    typed = {
        name: value
        for name in ("min_withdrawal_atomic", "position")
        for value in re.findall(rf'name="{name}" value="([^"]*)"', form)
    }
    if Asset.objects.get(pk="USDT_SETH").is_active:
        typed["is_active"] = "on"
    answer = browser.post(PAGE, reason="A look", **typed)
    assert answer.status_code == 302
    line = AuditEntry.objects.filter(action="staff.changed", target_id="USDT_SETH").latest("id")
    assert line.details["typed"] == [] and not found_of(INVARIANT)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE assets_asset SET contract_address = %s WHERE id = 'USDT_SETH'", [ELSEWHERE]
        )
    assert found_of(INVARIANT)
