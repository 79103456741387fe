"""Memory of each process of a demo after a mixed load: every page that its dashboard and
documentation link to, the API, files.

    .venv/bin/python -m tests.bench.memory [requests]

RSS counts what processes share once for each of them; PSS is a process's own share. Both are of
/proc/PID/smaps_rollup.
"""

import base64
import os
import random
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from django_otp.oath import totp

from tests.bench.harness import figure
from tests.stack import ROOT, Demo

REQUESTS = 1200
AT_ONCE = 8
PAGES_MAX = 400
OF_ONE_KIND_MAX = 3
TRIES = 6
WAIT_SECONDS = 3.0
IDLE_SECONDS = 15.0  # until what draws documents has ended, and what was freed has gone back
LINK = re.compile(r'href="(/(?:dashboard|docs|pay|invoice|portal|files)[^"#]*)"')
RECORD = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b\d+\b|[A-Z0-9]{10,}")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
NEW = {"payment_intent": {"amount": "10.00", "currency": "EUR", "title": "Rye"}}


@dataclass(frozen=True)
class Held:
    """Memory of a process, in MB."""

    name: str
    rss: float
    pss: float


class Load:
    """The merchant of a demo in a browser, and their test key; `answers` counts statuses by what
    was asked for."""

    def __init__(self, demo: dict[str, Any]) -> None:
        self.demo = demo
        self.base = demo["base_url"]
        self.browser = requests.Session()
        self.api = requests.Session()
        self.api.headers["Authorization"] = f"Bearer {demo['store']['keys']['test']['secret']}"
        self.answers: Counter[str] = Counter()

    def sign_in(self) -> None:
        told = self.demo["dashboard"]
        answer = self._send(
            f"{self.base}/dashboard/sign-in", email=told["email"], password=told["password"]
        )
        if "code" in answer.url:
            answer = self._send(
                answer.url, code=f"{totp(base64.b32decode(told['totp_secret'])):06d}"
            )
        if "sign-in" in answer.url:
            sys.exit(f"the merchant isn't let in: {answer.url}")

    def _send(self, url: str, **fields: str) -> requests.Response:
        found = TOKEN.search(self.browser.get(url).text)
        sent = {**fields, "csrfmiddlewaretoken": found[1] if found else ""}
        return self.browser.post(url, data=sent, headers={"Referer": url})

    def pages(self) -> list[str]:
        """Pages that are linked to, three of each kind."""
        found = ["/dashboard/", "/docs"]
        kinds = Counter[str]()
        for path in found:
            for link in LINK.findall(self._asked("page", path).text):
                kind = RECORD.sub("*", link.split("?")[0])
                path = link.replace("&amp;", "&")
                if (
                    path in found
                    or "sign-out" in path
                    or kinds[kind] >= OF_ONE_KIND_MAX
                    or len(found) >= PAGES_MAX
                ):
                    continue
                kinds[kind] += 1
                found.append(path)
        return found

    def lists(self) -> list[str]:
        """Paths of the API that name no record."""
        told = self.api.get(f"{self.base}/api/v2/openapi.json").json()
        return [
            path for path, methods in told["paths"].items() if "get" in methods and "{" not in path
        ]

    def files(self) -> list[str]:
        payments = self.api.get(f"{self.base}/api/v2/payments").json()["data"]
        return [f"/api/v2/payments/{payment['id']}/invoice" for payment in payments[:10]]

    def run(self, count: int) -> None:
        """So many requests, eight at a time: half of them pages, a third the API, the rest files
        and new payments."""
        pages = self.pages()
        lists = self.lists()
        files = self.files()
        print(f"{len(pages)} pages, {len(lists)} lists of the API, {len(files)} files", flush=True)
        chance = random.Random(7)
        kinds = chance.choices(("page", "list", "file", "payment"), (54, 30, 6, 10), k=count)
        paths = {"page": pages, "list": lists, "file": files, "payment": [""]}
        jobs = [(kind, chance.choice(paths[kind])) for kind in kinds]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda job: self._asked(*job), jobs))

    def _asked(self, kind: str, path: str) -> requests.Response:
        for _ in range(TRIES):
            if kind == "payment":
                answer = self.api.post(f"{self.base}/api/v2/payments", json=NEW, timeout=120)
            else:
                answer = (self.browser if kind == "page" else self.api).get(
                    self.base + path, timeout=120
                )
            if answer.status_code != 429:
                break
            time.sleep(WAIT_SECONDS)
        self.answers[f"{kind} {answer.status_code}"] += 1
        return answer


def processes(root: int) -> list[int]:
    """The process and all that it started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def whole_demo_mb() -> float:
    """The sum of PSS over whatever runs in this folder, the database and the chains too."""
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = (folder / "cwd").resolve().is_relative_to(ROOT)
            told = (folder / "smaps_rollup").read_text() if is_ours else ""
        except OSError:  # it has ended
            continue
        if int(folder.name) != os.getpid():
            total += sum(int(size) for size in re.findall(r"^Pss:\s+(\d+) kB", told, re.MULTILINE))
    return total / 1024


def held(pid: int) -> Held | None:
    """Nothing of what isn't Python, or has ended."""
    folder = Path("/proc") / str(pid)
    try:
        words = (folder / "cmdline").read_text().replace("\0", " ").split()
        told = (folder / "smaps_rollup").read_text()
    except OSError:
        return None
    if not words or "python" not in words[0]:
        return None
    sizes = {
        name: int(size) / 1024
        for name, size in re.findall(r"^(Rss|Pss):\s+(\d+) kB", told, re.MULTILINE)
    }
    shown = (folder / "comm").read_text().strip()
    return Held(f"{pid} {shown}: {' '.join(words[1:])[:60]}", sizes["Rss"], sizes["Pss"])


def main() -> None:
    demo = Demo()
    try:
        load = Load(demo.info)
        load.sign_in()
        before = {pid: held(pid) for pid in processes(demo.process.pid)}
        load.run(int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS)
        time.sleep(IDLE_SECONDS)
        print(dict(sorted(load.answers.items())))
        web = 0.0
        print(f"{'RSS before':>10} {'RSS':>6} {'PSS':>6}  MB")
        for pid in processes(demo.process.pid):
            now = held(pid)
            then = before.get(pid)
            if now is not None:
                print(f"{then.rss if then else 0:10.0f} {now.rss:6.0f} {now.pss:6.0f}  {now.name}")
                if "tillgate web" in now.name:
                    web = max(web, now.rss)
        figure("web process after the mixed load, MB", web)
        figure("memory of the whole demo, MB", whole_demo_mb())
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
