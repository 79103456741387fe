"""How a person sets up their lists: per person, store and list, within limits, and nothing that is
stored breaks a page."""

import pytest

from apps.stores import lists
from apps.stores.models import Member
from tests.cast import Cast


def alice(cast: Cast) -> Member:
    return Member.objects.get(user=cast.alice, store=cast.bakery.store)


def test_columns_and_filters_are_kept_for_one_list_of_one_member(cast: Cast) -> None:
    lists.choose_columns(alice(cast), "payments", ("amount", "net"))
    lists.save_filter(alice(cast), "payments", "  Large   ones ", "min=1000")
    found = lists.setup_of(alice(cast), "payments")
    assert found.columns == ("amount", "net")
    assert [(item.name, item.query) for item in found.filters] == [("Large ones", "min=1000")]
    assert lists.setup_of(alice(cast), "invoices") == lists.ListSetup()
    bob = Member.objects.get(user=cast.bob, store=cast.bakery.store)
    assert lists.setup_of(bob, "payments") == lists.ListSetup()


def test_a_name_that_is_saved_again_means_the_new_filter(cast: Cast) -> None:
    for query in ("status=failed", "status=expired"):
        lists.save_filter(alice(cast), "payments", "Lost", query)
    assert [item.query for item in lists.setup_of(alice(cast), "payments").filters] == [
        "status=expired"
    ]
    lists.delete_filter(alice(cast), "payments", "Lost")
    lists.delete_filter(alice(cast), "payments", "Lost")
    assert lists.setup_of(alice(cast), "payments").filters == ()


def test_names_and_the_number_of_filters_have_limits(cast: Cast) -> None:
    for name, query, refusal in (
        (" ", "q=1", lists.FilterNameMissing),
        ("a\x00b", "q=1", lists.FilterNameMissing),
        ("x" * 41, "q=1", lists.FilterNameTooLong),
        ("All", "", lists.FilterEmpty),
        ("Long", "q=" + "x" * 2000, lists.FilterEmpty),
    ):
        with pytest.raises(refusal):
            lists.save_filter(alice(cast), "payments", name, query)
    for number in range(20):
        lists.save_filter(alice(cast), "payments", f"Filter {number}", f"q={number}")
    with pytest.raises(lists.TooManyFilters):
        lists.save_filter(alice(cast), "payments", "One more", "q=21")
    lists.save_filter(alice(cast), "payments", "Filter 3", "q=other")
    assert len(lists.setup_of(alice(cast), "payments").filters) == 20


@pytest.mark.parametrize(
    "stored",
    [{"payments": {"columns": 7}}, {"payments": []}, {"payments": {"filters": [{"name": 1}]}}, []],
)
def test_what_cannot_be_read_counts_as_not_set_up(cast: Cast, stored: object) -> None:
    member = alice(cast)
    member.lists = stored
    assert lists.setup_of(member, "payments") == lists.ListSetup()
