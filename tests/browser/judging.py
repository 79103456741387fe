"""How Chromium is started for tests, what axe is asked of a page, and when it is too wide."""

from pathlib import Path

from dev import scratch

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # the shops of the tests stand on this machine too
    "--disable-features=LocalNetworkAccessChecks,SpareRendererForSitePerProcess,ScriptStreaming",
    # a page is gone before what its scripts are optimized into has paid for itself, and the next
    # one has the same scripts
    "--js-flags=--no-turbofan --no-maglev --no-flush-bytecode",
    # pages of one profile are drawn by one process, whoever they are of
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
]
SHARED_BYTES = 2**30


def left_out_flags() -> list[str]:
    """Of Playwright's own flags. For small containers it has what Chromium's processes share put on
    disk, which takes a tenth of Chromium's time."""
    return ["--disable-dev-shm-usage"] if scratch.has_room(SHARED_BYTES) else []


# How many pixels a page, a card (which cuts what doesn't fit), or a table whose rows are cards on a
# phone, is wider than what shows it.
OVERFLOW = """() => {
    const rows = matchMedia("(max-width: 40rem)").matches ? ".table-wrap:has(> .stacks)" : "none";
    const boxes = [document.documentElement, ...document.querySelectorAll(`.card, ${rows}`)];
    return Math.max(...boxes.map(box => box.scrollWidth - box.clientWidth));
}"""
AXE_FILE = Path(__file__).parent / "axe-4.14.1.min.js"
AXE = AXE_FILE.read_text()
# From the tests' server a browser takes it once and keeps it compiled; sent, it takes four times as
# long, for each document.
AXE_ADDRESS = "/static/axe.js"
LOADED = """address => "axe" in window || new Promise(loaded => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = script.onerror = () => {
        script.remove();
        loaded("axe" in window);
    };
    document.head.append(script);
})"""
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Every rule is asked; what passes is neither described nor brought here, which took more than the
# rules do. Nor is the source of each element, which axe copies for every rule. What it has judged
# already stands aside meanwhile, and an empty box in its place: of what axe only leaves out it
# still measures every element.
JUDGED = """async ({tags, besides = []}) => {
    axe.configure({noHtml: true});
    const known = besides.length ? [...document.querySelectorAll(besides)] : [];
    const aside = known.filter(part => !part.contains(document.activeElement));
    const places = aside.map(part => {
        const place = part.cloneNode(false);
        place.style.minHeight = `${part.getBoundingClientRect().height}px`;
        return place;
    });
    aside.forEach((part, one) => part.replaceWith(places[one]));
    try {
        const whole = {exclude: besides.map(selector => [selector])};
        const found = await axe.run(whole, {runOnly: tags, resultTypes: ["violations"]});
        return found.violations;
    } finally {
        places.forEach((place, one) => place.replaceWith(aside[one]));
    }
}"""
# What every page of the dashboard has: on one page after the other it is judged with the first.
FRAME = (".head", ".side")
# Puts another page's body, title, attributes and missing stylesheets into this one, so that neither
# rules nor styles are loaded again; scripts of the other don't run. Its status, and where it is.
TURNED_TO = """async path => {
    const answer = await fetch(path);
    const other = new DOMParser().parseFromString(await answer.text(), "text/html");
    const sheets = of => [...of.querySelectorAll("link[rel=stylesheet]")];
    const known = new Set(sheets(document).map(sheet => sheet.href));
    await Promise.all(sheets(other).filter(sheet => !known.has(sheet.href)).map(sheet =>
        new Promise(loaded => {
            const copy = document.importNode(sheet);
            copy.onload = copy.onerror = loaded;
            document.head.append(copy);
        })));
    document.title = other.title;
    for (const name of ["lang", "dir", "class"]) {
        document.documentElement.setAttribute(name, other.documentElement.getAttribute(name) ?? "");
    }
    document.body.replaceWith(document.adoptNode(other.body));
    return [answer.status, new URL(answer.url).pathname];
}"""
