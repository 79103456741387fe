"""The staff site's page about proxies says which address it sees, and what TRUSTED_PROXY_HOPS
should be."""

from typing import Any

import pytest

from apps.staff.system.proxies import judge
from tests.cast import Cast
from tests.dashboard.browse import Browser
from tests.staff.test_sign_in import clerk, staff

__all__ = ["clerk", "staff"]
MINE = "203.0.113.7"
CDN = "198.51.100.2"
PROXY = "10.0.0.3"


@pytest.mark.parametrize(
    ("forwarded", "connection", "hops", "mine", "should_be", "says"),
    [
        ([], "8.8.8.8", 0, "", 0, "TRUSTED_PROXY_HOPS matches"),
        ([], "8.8.8.8", 1, "", 0, "is believed"),
        (["8.8.8.8"], PROXY, 1, "", 1, "TRUSTED_PROXY_HOPS matches this request."),
        (["8.8.8.8"], PROXY, 0, "", 1, "counts as one client"),
        (
            ["8.8.8.8", CDN],
            PROXY,
            1,
            "",
            2,
            "Set TRUSTED_PROXY_HOPS=2. Until then, everyone behind the same proxy",
        ),
        (["8.8.8.8", CDN], PROXY, 2, "", 2, "TRUSTED_PROXY_HOPS matches"),
        (
            ["8.8.8.8"],
            PROXY,
            3,
            "",
            1,
            "Set TRUSTED_PROXY_HOPS=1. Until then, clients can write any address",
        ),
        ([], PROXY, 0, "", 0, "10.0.0.3 is a private address"),
        (["10.9.9.9"], PROXY, 1, "", 1, "10.9.9.9 is a private address"),
        # A company's proxy has written into the header before it came to ours.
        (["192.168.1.5", MINE], PROXY, 1, MINE, 1, "TRUSTED_PROXY_HOPS matches"),
        (["192.168.1.5", MINE], PROXY, 2, MINE, 1, "Set TRUSTED_PROXY_HOPS=1"),
        (["::ffff:203.0.113.7", CDN], PROXY, 1, MINE, 2, "Set TRUSTED_PROXY_HOPS=2"),
        ([], f"::ffff:{MINE}", 0, MINE, 0, "matches"),
        ([CDN], PROXY, 1, MINE, None, "isn’t in this request"),
        ([CDN], PROXY, 1, "me", None, "me isn’t an address"),
    ],
)
def test_what_the_setting_should_be(
    forwarded: list[str], connection: str, hops: int, mine: str, should_be: int | None, says: str
) -> None:
    verdict = judge(forwarded, connection, hops, mine)
    assert verdict.hops == should_be and says in verdict.text


def test_staff_see_what_arrived_and_what_is_believed_of_it(staff: Browser, settings: Any) -> None:
    settings.TRUSTED_PROXY_HOPS = 1
    headers = {
        "X-Forwarded-For": f"8.8.4.4, ::ffff:{CDN}",
        "X-Forwarded-Proto": "https",
        "Via": "<script>1.1 cdn</script>",
    }
    page = staff.client.get("/admin/proxies/", headers=headers, REMOTE_ADDR=PROXY).content.decode()
    for text in (
        f"8.8.4.4, ::ffff:{CDN}",
        PROXY,
        f"<td><bdi>{CDN}</bdi></td>",
        'Set <bdi class="code">TRUSTED_PROXY_HOPS=2</bdi>',
        "&lt;script&gt;1.1 cdn",
    ):
        assert text in page
    fits = staff.client.get(
        "/admin/proxies/", {"mine": CDN}, headers=headers, REMOTE_ADDR=PROXY
    ).content.decode()
    assert 'Set <bdi class="code">' not in fits
    assert '<bdi class="code">TRUSTED_PROXY_HOPS</bdi> matches' in fits
    assert 'href="/admin/proxies/"' in staff.client.get("/admin/").content.decode()


def test_nobody_else_sees_it(cast: Cast) -> None:
    assert Browser().client.get("/admin/proxies/").status_code == 302
    assert Browser(cast.alice).get("/admin/proxies/", follow=True).status_code == 404
