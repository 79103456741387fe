"""An owner has customers' coins go to their own wallet: shown first, confirmed with a code, and
nothing that could spend comes back on a page."""

import pytest

from apps.chain.models import OwnWallet, WalletChoice
from apps.chain.networks.families import shown_address
from apps.chain.own import choices, factory, wallets
from apps.stores.models import User
from tests.cast import Cast
from tests.chain.own_wallets import account, start_told, xpub
from tests.dashboard.browse import Browser, field_errors, text

PAGE = "settings/wallets/change?asset=SETH"


def test_an_owner_compares_the_first_addresses_and_confirms(rich: Cast, alice: Browser) -> None:
    alice.answers = False
    asked = alice.post(PAGE, kind="key", content=xpub())
    assert asked.context["asks_code"] and not WalletChoice.objects.exists()
    _, named = choices.read_request(
        rich.bakery.owner_access(), choices.WalletRequest("SETH", "key", xpub())
    )
    assert named is not None
    assert all(shown_address(first) in text(asked) for first in named.first())
    assert alice.confirm(asked, PAGE, kind="key", content=xpub()).status_code == 303
    assert "Not yet in effect" in text(alice.get("settings/wallets"))
    start_told()
    page = text(alice.get("settings/wallets"))
    wallet = OwnWallet.objects.get()
    assert "Own wallet" in page and shown_address(wallets.address_at(wallet, 0)) in page


@pytest.mark.parametrize("make_text", [lambda: account().text(), lambda: "abandon " * 11 + "about"])
def test_a_private_key_never_comes_back(alice: Browser, make_text: object) -> None:
    pasted = make_text()  # type: ignore[operator]  # a function
    answer = alice.post(PAGE, kind="key", content=pasted)
    assert answer.status_code == 422
    assert "Treat it as exposed" in field_errors(answer)["content"]
    assert pasted.strip() not in answer.content.decode()
    assert pasted.strip() not in str(dict(alice.client.session))
    assert not OwnWallet.objects.exists()


def test_a_private_key_never_comes_back_where_coins_are_to_be_held(alice: Browser) -> None:
    alice.answers = False
    pasted = account().text()
    for kind in ("held", "anything"):
        answer = alice.post(PAGE, kind=kind, content=pasted)
        assert answer.status_code == 422
        assert pasted not in answer.content.decode()


def test_the_page_is_in_the_readers_language(alice: Browser) -> None:
    User.objects.filter(pk=alice.user.pk).update(language="de")  # type: ignore[union-attr]
    answer = alice.post(PAGE, kind="key", content=account().text())
    assert "Das ist ein privater Schlüssel" in field_errors(answer)["content"]
    alice.post(PAGE, kind="key", content=xpub())
    start_told()
    page = text(alice.get("settings/wallets"))
    assert "Eine eigene Wallet, deren erste Adresse" in page and "SETH on " not in page
    alice.post(PAGE, kind="forwarder", content=shown_address("0x" + "12" * 20))
    WalletChoice.objects.filter(told_at=None).update(waits_for=factory.MISSING)
    assert "Der Vertrag für Weiterleitungen" in text(alice.get("settings/wallets"))


def test_what_has_not_begun_can_be_canceled(rich: Cast, alice: Browser) -> None:
    alice.post(PAGE, kind="key", content=xpub())
    choice = WalletChoice.objects.get()
    assert alice.post(f"settings/wallets/{choice.pk}/stop").status_code == 303
    choice.refresh_from_db()
    assert choice.stopped_at is not None


def test_only_owners_change_it(rich: Cast) -> None:
    assert Browser(rich.bob).prove().post(PAGE, kind="key", content=xpub()).status_code == 403
    assert not WalletChoice.objects.exists()


def test_an_unknown_asset_has_no_page(alice: Browser) -> None:
    for page in ("change", "collect"):
        assert alice.get(f"settings/wallets/{page}?asset=NONE").status_code == 404
    assert alice.get("settings/wallets/collect?asset=SETH").status_code == 200
