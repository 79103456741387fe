"""Wrong codes wait longer and longer, but never so long that who knows the password keeps the owner
out."""

from datetime import timedelta

import pytest
import time_machine

from apps.access.factors import second_factor
from apps.access.models import SecondFactor
from apps.core import clock
from apps.core.models import OutgoingMail
from tests.cast import Cast
from tests.dashboard.browse import code_of

WRONG = "000000"


def guess(cast: Cast, factor: SecondFactor, times: int) -> None:
    """So many wrong codes, as if each had been waited for as long as it takes."""
    for _ in range(times):
        SecondFactor.objects.filter(pk=factor.pk).update(throttling_failure_timestamp=None)
        with pytest.raises(second_factor.WrongCode):
            second_factor.verify(cast.alice, factor, WRONG)


@pytest.fixture
def factor(cast: Cast) -> SecondFactor:
    return second_factor.switch_on(cast.alice, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def test_after_any_number_of_wrong_codes_the_right_one_waits_fifteen_minutes_at_most(
    cast: Cast, factor: SecondFactor
) -> None:
    guess(cast, factor, 40)
    with (
        time_machine.travel(clock.real_now() + timedelta(minutes=14), tick=False),
        pytest.raises(second_factor.WrongCode),
    ):
        second_factor.verify(cast.alice, factor, code_of(factor))
    with time_machine.travel(clock.real_now() + timedelta(minutes=15, seconds=1), tick=False):
        second_factor.verify(cast.alice, factor, code_of(factor))
    factor.refresh_from_db()
    assert factor.throttling_failure_count == 0


def test_a_backup_code_never_waits(cast: Cast) -> None:
    factor = second_factor.pending(cast.alice)
    codes = second_factor.confirm(cast.alice, code_of(factor))
    guess(cast, factor, 20)
    second_factor.verify(cast.alice, factor, codes[0])
    with pytest.raises(second_factor.WrongCode):
        second_factor.verify(cast.alice, factor, codes[0])


def test_the_owner_is_told_of_ten_wrong_codes_in_a_row_once(
    cast: Cast, factor: SecondFactor
) -> None:
    guess(cast, factor, 9)
    assert not OutgoingMail.objects.filter(to=cast.alice.email).exists()
    guess(cast, factor, 6)
    with pytest.raises(second_factor.WrongCode):  # one that still waits isn't counted
        second_factor.verify(cast.alice, factor, WRONG)
    assert OutgoingMail.objects.filter(to=cast.alice.email, template="account_changed").count() == 1
