"""One call of the API as code in each language, from an example that a test has run."""

import json
from typing import Any

from django.conf import settings
from msgspec import Struct

from apps.docs.markdown import KEY

ITEMS_MAX = 2  # of each list in an example
CREDENTIALS = {"agent": "svca_test_YOUR_CREDENTIAL", "token": "YOUR_ACCESS_TOKEN", "key": KEY}


class Example(Struct, frozen=True, kw_only=True):
    """A call and its answer, as docs/reference/examples.json has them. `request` and `response` are
    any JSON."""

    path: str
    key: str
    request: Any
    status: int
    type: str
    response: Any


def samples(method: str, example: Example, who: str) -> str:
    """Fences with tabs. `who` is key, agent, token, session or nobody."""
    url = f"{settings.API_URL}/api/v2{example.path}"
    snippets = (
        ("sh", "curl", _curl(method, url, example, who)),
        ("python", "Python", _python(method, url, example, who)),
        ("ts", "TypeScript", _typescript(method, url, example, who)),
        ("php", "PHP", _php(method, url, example, who)),
    )
    return "\n\n".join(
        f"```{language} tab={name}\n{text}\n```" for language, name, text in snippets
    )


def _headers(example: Example, who: str) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {CREDENTIALS[who]}"} if who in CREDENTIALS else {}
    if who == "session":
        headers |= {"Cookie": "session=…", "X-CSRFToken": "…"}
    if example.key:
        headers["Idempotency-Key"] = example.key
    return headers


def _curl(method: str, url: str, example: Example, who: str) -> str:
    lines = [f"curl '{url}'" if method in ("GET", "POST") else f"curl -X {method} '{url}'"]
    if method == "POST" and example.request is None:
        lines[0] = f"curl -X POST '{url}'"
    headers = _headers(example, who)
    if who == "key":
        headers.pop("Authorization")
        lines.append(f"-u '{KEY}:'")
    if example.request is not None:
        headers["Content-Type"] = "application/json"
    lines += [f"-H '{name}: {value}'" for name, value in headers.items()]
    if example.request is not None:
        lines.append("-d '{}'".format(_json(example.request).replace("'", "'\\''")))
    return " \\\n  ".join(lines)


def _python(method: str, url: str, example: Example, who: str) -> str:
    lines = ["import requests", "", f"answer = requests.{method.lower()}(", f'    "{url}",']
    headers = _headers(example, who)
    if headers:
        lines.append(f"    headers={_json(headers, 4)},")
    if example.request is not None:
        lines.append(f"    json={_literal(_json(example.request, 4))},")
    output = "answer.json()" if example.type == "application/json" else "answer.status_code"
    return "\n".join([*lines, ")", f"print({output})"])


def _literal(text: str) -> str:
    return (
        text.replace(": true", ": True").replace(": false", ": False").replace(": null", ": None")
    )


def _typescript(method: str, url: str, example: Example, who: str) -> str:
    headers = _headers(example, who)
    if example.request is not None:
        headers["Content-Type"] = "application/json"
    options = [] if method == "GET" else [f'  method: "{method}",']
    if headers:
        options.append(f"  headers: {_json(headers, 2)},")
    if example.request is not None:
        options.append(f"  body: JSON.stringify({_json(example.request, 2)}),")
    call = (
        [f'const answer = await fetch("{url}", {{', *options, "});"]
        if options
        else [f'const answer = await fetch("{url}");']
    )
    output = "await answer.json()" if example.type == "application/json" else "answer.status"
    return "\n".join([*call, f"console.log({output});"])


def _php(method: str, url: str, example: Example, who: str) -> str:
    headers = _headers(example, who)
    if example.request is not None:
        headers["Content-Type"] = "application/json"
    lines = [
        f"$curl = curl_init('{url}');",
        "curl_setopt_array($curl, [",
        "    CURLOPT_RETURNTRANSFER => true,",
    ]
    if method != "GET":
        lines.append(f"    CURLOPT_CUSTOMREQUEST => '{method}',")
    if headers:
        listed = ", ".join(f"'{name}: {value}'" for name, value in headers.items())
        lines.append(f"    CURLOPT_HTTPHEADER => [{listed}],")
    if example.request is not None:
        text = _json(example.request, 4).replace("'", "\\'")
        lines.append(f"    CURLOPT_POSTFIELDS => '{text}',")
    return "\n".join([*lines, "]);", "echo curl_exec($curl);"])


def _json(value: Any, indent: int = 0) -> str:
    """Indented, its later lines further in by `indent`."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + " " * indent)
