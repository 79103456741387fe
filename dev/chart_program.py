"""Renders and judges a chart with several values: a request on standard input, an answer for each
on standard output, both JSON.

Run by dev/charts.py in the environment that has Helm; nothing imports it.
"""

import json
import sys
from functools import cache

import helm_python
import kubernetes_validate
import yaml

# The newest and the oldest release of Kubernetes that the chart is for.
VERSIONS = ("1.29", "1.37")
# Objects of operators, whose schemas Kubernetes doesn't have.
FOREIGN = ("keda.sh/", "monitoring.coreos.com/")


def main() -> None:
    request = json.load(sys.stdin)
    answers = [_answer(request["chart"], values) for values in request["values"]]
    json.dump(answers, sys.stdout)


def _answer(path: str, values: dict) -> dict:
    answer = {"refusal": "", "objects": [], "notes": "", "lint": [], "invalid": []}
    try:
        with helm_python.Chart.load(path) as chart:
            chart.validate_schema(values)
            files = chart.render(values, name="pay", namespace="payments")
    except helm_python.HelmError as error:
        answer["refusal"] = str(error)
        return answer
    for name, text in sorted(files.items()):
        if name.endswith("NOTES.txt"):
            answer["notes"] = text
        else:
            answer["objects"] += [entry for entry in yaml.safe_load_all(text) if entry]
    for entry in answer["objects"]:
        answer["invalid"] += _refused(json.dumps(entry))
    # Severity 1 is advice: an icon.
    report = helm_python.lint(path, values, strict=True)
    answer["lint"] = [line["error"] for line in report["messages"] if line["severity"] > 1]
    return answer


@cache
def _refused(text: str) -> list[str]:
    """The schemas' messages about an object; most objects are the same with other values."""
    entry = json.loads(text)
    if entry["apiVersion"].startswith(FOREIGN):
        return []
    title = f"{entry['kind']} {entry['metadata']['name']}"
    refused = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(entry, version, strict=True)
        except Exception as error:
            refused.append(f"{title} in {version}: {getattr(error, 'message', error)}")
    return refused


if __name__ == "__main__":
    main()
