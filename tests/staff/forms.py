"""Forms of the staff's pages, filled in as a browser does: what a page has stays as it is."""

from html.parser import HTMLParser
from typing import Any

from tests.dashboard.browse import Browser, text


class _Forms(HTMLParser):
    """The forms of a page, each as its inputs begin."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.forms: list[dict[str, list[str]]] = []
        self.names: list[set[str]] = []
        self._select = self._area = ""
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append({})
            self.names.append(set())
            self._is_inside = True
        if not self._is_inside or ("name" not in facts and tag != "option"):
            return
        name = facts.get("name", "")
        if tag in ("input", "select", "textarea"):
            self.names[-1].add(name)
        if tag == "select":
            self._select = name
        elif tag == "textarea":
            self._area = name
            self.forms[-1][name] = [""]
        elif tag == "option" and self._select and "selected" in facts:
            self.forms[-1].setdefault(self._select, []).append(facts.get("value", ""))
        elif tag == "input" and (
            facts.get("type") not in ("checkbox", "radio") or "checked" in facts
        ):
            blank = "on" if facts.get("type") in ("checkbox", "radio") else ""
            self.forms[-1].setdefault(name, []).append(facts.get("value", blank))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False
        if tag == "select":
            self._select = ""
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1][self._area] = [self.forms[-1][self._area][0] + data.strip("\n")]


def filled(page: str, *names: str) -> dict[str, Any]:
    """The first form of a page that has inputs of these names, as it begins."""
    read = _Forms(page)
    for form, there in zip(read.forms, read.names, strict=True):
        if set(names) <= there and "csrfmiddlewaretoken" in there:
            sent = {name: values for name, values in form.items() if name != "csrfmiddlewaretoken"}
            return {name: v[0] if len(v) == 1 else v for name, v in sent.items()}
    raise AssertionError(f"no form has {names}")


def opened(browser: Browser, path: str, *names: str) -> dict[str, Any]:
    return filled(text(browser.get(path)), *names)


def save(browser: Browser, path: str, reason: str = "A look", **typed: Any) -> Any:
    """Open the form that has these inputs, change them, and confirm what would change. None clears
    a box."""
    names = typed or {"reason": ""}
    form = opened(browser, path, *names)
    sent = {name: value for name, value in {**form, **typed}.items() if value is not None}
    return browser.post(path, **{**sent, "reason": reason, "confirmed": "1"})


class StaffBrowser(Browser):
    """A member of staff whose raw forms carry what their page had hidden, and who confirms what
    would change; of a store's settings each part is sent by itself."""

    def post(self, path: str, **fields: Any) -> Any:
        if path.endswith("/change/"):
            return self._change(path, fields)
        if "/staffrequest/ask/" in path:
            known = {name: fields[name] for name in ("store", "email") if fields.get(name)}
            page = text(self.get(path, data=known))
            sent: dict[str, Any] = dict(fields)
            if 'name="seen"' in page:
                sent = {"seen": filled(page, "seen")["seen"], "confirmed": "1", **fields}
            return super().post(path, **sent)
        return super().post(path, **fields)

    def _change(self, path: str, fields: dict[str, Any]) -> Any:
        read = _Forms(text(self.get(path)))
        parts = [
            (form, names)
            for form, names in zip(read.forms, read.names, strict=True)
            if "seen" in names and ("reason" in names or "part" in names)
        ]
        answer = None
        for form, names in parts:
            typed = {name: value for name, value in fields.items() if name in names}
            hidden: dict[str, Any] = {
                name: form[name][0] for name in ("seen", "part") if name in form
            }
            now = {name: v[0] for name, v in form.items() if name in names and v}
            if len(parts) > 1 and not _differ(now, typed):
                continue
            said = {name: value for name, value in fields.items() if name in ("reason", "code")}
            sent: dict[str, Any] = {**typed, **said, **hidden, "confirmed": "1"}
            answer = super().post(path, **sent)
            if answer.status_code not in (302, 303):
                return answer
        return answer if answer is not None else super().post(path, **fields)


def _differ(now: dict[str, str], typed: dict[str, Any]) -> bool:
    skipped = ("seen", "part", "csrfmiddlewaretoken", "reason")
    before = {name: value for name, value in now.items() if name not in skipped and value != ""}
    after = {n: str(v) for n, v in typed.items() if n not in skipped and v not in ("", None)}
    return bool(after) and before != after
