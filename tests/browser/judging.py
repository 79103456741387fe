"""How Chromium is started for tests, what axe is asked of a page, and when it is too wide."""

from pathlib import Path

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # the shops of the tests stand on this machine too
    "--disable-features=LocalNetworkAccessChecks,SpareRendererForSitePerProcess",
    # a page is gone before what its scripts are optimized into has paid for itself
    "--js-flags=--no-turbofan --no-maglev",
]
# How many pixels a page, or a table whose rows are cards on a phone, is wider than what shows it.
OVERFLOW = """() => {
    const cards = matchMedia("(max-width: 40rem)").matches ? ".table-wrap:has(> .stacks)" : "none";
    const boxes = [document.documentElement, ...document.querySelectorAll(cards)];
    return Math.max(...boxes.map(box => box.scrollWidth - box.clientWidth));
}"""
AXE = (Path(__file__).parent / "axe-4.14.1.min.js").read_text()
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Every rule is asked; what passes is neither described nor brought here, which took more than the
# rules do.
JUDGED = (
    "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']}).then(found =>"
    " found.violations)"
)
