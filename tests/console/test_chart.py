"""The chart of deploy/helm runs what compose.yaml and deploy/systemd run, with what each process
may know and nothing else: rendered by Helm itself, judged by the schemas of Kubernetes."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from config import refusals
from dev import charts
from dev.charts import RenderedChart

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/tillgate"
needs_helm = pytest.mark.skipif(
    not charts.is_installed(), reason="no Helm: `manage.py test` without arguments brings it"
)
# Of compose.yaml: what a cluster brings.
NOT_OURS = {"postgres", "pooler", "redis", "proxy"}
LEAST: dict[str, Any] = {
    "image": {"repository": "registry.example.com/tillgate"},
    "settings": {"PUBLIC_URL": "https://pay.example.com", "S3_BUCKET": "files"},
}
WORKERS = ("worker", "workerTest", "webhooks", "reports", "documents", "clocks")
FULL: dict[str, Any] = {
    "image": {
        "repository": "registry.example.com/tillgate",
        "digest": f"sha256:{'ab' * 32}",
        "pullSecrets": ["registry"],
    },
    "settings": {"PUBLIC_URL": "https://pay.example.com", "TRUSTED_PROXY_HOPS": 1},
    "storage": {"existingClaim": "files"},
    "keda": {"enabled": True},
    **{name: {"autoscaling": {"enabled": True}} for name in ("web", *WORKERS)},
    "backup": {"enabled": True, "existingClaim": "backups"},
    "pooler": {"enabled": True, "image": "pgbouncer:1.24", "host": "db.example.com"},
    "ingress": {"enabled": True, "hosts": ["api.example.com"], "tlsSecret": "tls"},
    "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "nodeSelector": {"pool": "payments"},
    "tolerations": [{"key": "payments", "operator": "Exists"}],
    "signer": {
        "volumes": [{"name": "hsm", "emptyDir": {}}],
        "volumeMounts": [{"name": "hsm", "mountPath": "/opt/hsm"}],
    },
}


def settings() -> list[str]:
    """Every variable that .env.example knows."""
    text = (ROOT / ".env.example").read_text()
    return re.findall(r"^#?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE)


def is_secret(name: str) -> bool:
    if name in refusals._NO_SECRETS:
        return False
    is_list_of_keys = name.endswith("_KEYS") and name != "SIGNER_HOT_KEYS"
    has_password = name in ("ANYMAIL", "REDIS_URL") or re.fullmatch(r"DATABASE_\w*URL", name)
    return is_list_of_keys or bool(has_password) or bool(refusals._SECRET_NAME.search(name))


def of_settings(**changes: str) -> dict[str, Any]:
    return {**LEAST, "settings": {**changes, **LEAST["settings"]}}


PLAIN = {name: "1" for name in settings() if not is_secret(name)}
VALUES: dict[str, dict[str, Any]] = {
    "least": LEAST,
    "full": FULL,
    "no place for files": {**LEAST, "settings": {"PUBLIC_URL": "https://pay.example.com"}},
    "two watchers": {**LEAST, "watcher": {"replicas": 2}},
    "no KEDA": {**LEAST, "worker": {"autoscaling": {"enabled": True}}},
    "every setting": of_settings(**{**PLAIN, "TILLGATE_ENV": "production"}),
    "a secret": of_settings(SECRET_KEY="very-secret"),
}


@pytest.fixture(scope="module")
def every() -> dict[str, RenderedChart]:
    """The chart with each of the values, rendered by one process."""
    return dict(zip(VALUES, charts.render(CHART, *VALUES.values()), strict=True))


@pytest.fixture
def least(every: dict[str, RenderedChart]) -> RenderedChart:
    return every["least"]


@pytest.fixture
def full(every: dict[str, RenderedChart]) -> RenderedChart:
    return every["full"]


@pytest.fixture(params=["least", "full"])
def rendered(request: pytest.FixtureRequest) -> RenderedChart:
    answer: RenderedChart = request.getfixturevalue(request.param)
    return answer


def kinds(rendered: RenderedChart, *names: str) -> dict[str, dict[str, Any]]:
    """The objects of these kinds, by the part of the service that they belong to."""
    return {
        found["metadata"]["name"].removeprefix("pay-"): found
        for found in rendered.objects
        if found["kind"] in names
    }


def pods(rendered: RenderedChart) -> dict[str, dict[str, Any]]:
    """The pods of Tillgate's own processes."""
    workloads = kinds(rendered, "Deployment", "StatefulSet", "Job", "CronJob")
    return {
        name: found["spec"].get("jobTemplate", found)["spec"]["template"]["spec"]
        for name, found in workloads.items()
        if name != "pooler"
    }


def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["containers"]
    return dict(only)


def compose() -> dict[str, dict[str, Any]]:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return {name: found for name, found in services.items() if name not in NOT_OURS}


def schema() -> dict[str, Any]:
    return dict(json.loads((CHART / "values.schema.json").read_text()))


@needs_helm
def test_helm_and_kubernetes_accept_it(rendered: RenderedChart) -> None:
    assert rendered.refusal == ""
    assert rendered.lint == []
    assert rendered.invalid == []


@needs_helm
def test_every_process_of_compose_and_systemd_is_in_the_chart(full: RenderedChart) -> None:
    units = {
        path.stem.removeprefix("tillgate-")
        for path in (ROOT / "deploy/systemd").glob("tillgate-*.service")
    }
    assert set(pods(full)) == set(compose()) == units


@needs_helm
def test_it_runs_what_compose_runs(least: RenderedChart, full: RenderedChart) -> None:
    for name, pod in pods(least).items():
        assert container(pod).get("args") == compose()[name].get("command"), name
    # With the arguments of a nightly backup.
    assert container(pods(full)["backup"])["args"][:3] == compose()["backup"]["command"][:3]


@needs_helm
def test_each_process_knows_what_it_knows_in_compose(full: RenderedChart) -> None:
    for name, pod in pods(full).items():
        known = [
            entry["secretRef"]["name"].removeprefix("tillgate-")
            for entry in container(pod)["envFrom"]
        ]
        files = [file.removesuffix(".env") or "common" for file in compose()[name]["env_file"]]
        assert known == files, name


@needs_helm
def test_it_is_as_locked_down_as_compose(rendered: RenderedChart) -> None:
    for name, pod in pods(rendered).items():
        service, found = compose()[name], container(pod)
        assert found["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": service["read_only"],
            "capabilities": {"drop": service["cap_drop"]},
        }
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        mounts = {mount["mountPath"] for mount in found["volumeMounts"]}
        assert mounts >= set(service["tmpfs"]), name
        assert mounts >= {"/srv/tillgate/var/private"} or name == "signer"
        # It may use as much memory as there, and ends as gently.
        assert set(found["resources"]) == {"requests", "limits"}
        if "mem_limit" in service:
            assert found["resources"]["limits"]["memory"] == f"{service['mem_limit'][:-1]}Gi"
        grace = int(str(service.get("stop_grace_period", "0s")).removesuffix("s"))
        assert pod.get("terminationGracePeriodSeconds", 30) >= grace, name


@needs_helm
def test_files_are_in_the_bucket_or_in_a_claim(every: dict[str, RenderedChart]) -> None:
    least, full = every["least"], every["full"]
    volumes = {volume["name"]: volume for volume in pods(least)["web"]["volumes"]}
    in_memory = {"medium": "Memory", "sizeLimit": "64Mi"}
    places: dict[str, dict[str, str]] = {"tmp": {}, "run": in_memory, "private": {}}
    assert volumes == {name: {"name": name, "emptyDir": how} for name, how in places.items()}
    shared = {
        (mount["mountPath"], mount.get("subPath"))
        for mount in container(pods(full)["reports"])["volumeMounts"]
        if mount["name"] == "files"
    }
    assert shared == {
        ("/srv/tillgate/var/media", "media"),
        ("/srv/tillgate/var/private", "private"),
    }
    refusal = every["no place for files"].refusal
    assert "set settings.S3_BUCKET, or storage.existingClaim" in refusal


@needs_helm
def test_the_signer_runs_once_and_nobody_reaches_it(rendered: RenderedChart) -> None:
    (signer,) = kinds(rendered, "StatefulSet").values()
    assert signer["spec"]["replicas"] == 1
    found = container(pods(rendered)["signer"])
    assert "ports" not in found
    policy = kinds(rendered, "NetworkPolicy")["signer"]["spec"]
    selector = signer["spec"]["template"]["metadata"]["labels"].items()
    assert policy["podSelector"]["matchLabels"].items() <= selector
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == []
    ports = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
    assert ports == {53, 5432, 443, 8545}
    services = kinds(rendered, "Service").values()
    assert not any(
        service["spec"]["selector"]["app.kubernetes.io/component"] == "signer"
        for service in services
    )
    holders = [name for name, pod in pods(rendered).items() if "tillgate-signer" in str(pod)]
    assert holders == ["signer"]
    assert {"name": "SIGNER_KEY_FILE", "value": "/srv/tillgate/keys/signer.key"} in found["env"]


@needs_helm
def test_only_web_and_what_is_scraped_is_reached(full: RenderedChart) -> None:
    policies = kinds(full, "NetworkPolicy")
    assert set(policies) == {"closed", "web", "scraped", "pooler", "signer"}
    (reached,) = policies["scraped"]["spec"]["podSelector"]["matchExpressions"]
    assert set(reached["values"]) == set(kinds(full, "Deployment")) - {"web", "pooler"}
    everything = policies["closed"]["spec"]
    assert "ingress" not in everything
    assert everything["policyTypes"] == ["Ingress"]
    for found in kinds(full, "Deployment", "StatefulSet").values():
        labels = found["spec"]["template"]["metadata"]["labels"].items()
        assert everything["podSelector"]["matchLabels"].items() <= labels


@needs_helm
def test_web_is_asked_by_three_probes_as_its_proxy_would(rendered: RenderedChart) -> None:
    found = container(pods(rendered)["web"])
    paths = {
        name: found[name]["httpGet"]["path"]
        for name in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert paths == {
        "startupProbe": "/healthz",
        "livenessProbe": "/healthz",
        "readinessProbe": "/readyz/web",
    }
    for name in paths:
        headers = {item["name"]: item["value"] for item in found[name]["httpGet"]["httpHeaders"]}
        assert headers == {"Host": "pay.example.com", "X-Forwarded-Proto": "https"}
    for name in ("worker", "worker-test", "webhooks", "reports", "documents", "clocks"):
        worker = container(pods(rendered)[name])
        asked = " ".join(compose()[name]["healthcheck"]["test"][1:]).replace("$$", "$")
        for probe in ("startupProbe", "readinessProbe"):
            assert worker[probe]["exec"]["command"] == ["sh", "-c", asked]
        # A restart brings no Redis back: whoever doesn't hear the ping through it stays.
        tolerant = f"! timeout 15 {asked} 2>&1 | grep -q 'No nodes replied'"
        assert worker["livenessProbe"]["exec"]["command"] == ["sh", "-c", tolerant]


@needs_helm
def test_what_has_no_port_shows_that_its_loop_turns(rendered: RenderedChart) -> None:
    turning = {name for name, service in compose().items() if "ALIVE_FILE" in str(service)}
    assert turning == {"beat", "watcher", "signer"}
    for name in turning:
        found = container(pods(rendered)[name])
        service = compose()[name]
        env = {entry["name"]: entry.get("value") for entry in found["env"]}
        assert env["ALIVE_FILE"] == service["environment"]["ALIVE_FILE"]
        for probe in ("startupProbe", "livenessProbe"):
            assert found[probe]["exec"]["command"] == service["healthcheck"]["test"][1:]


@needs_helm
def test_a_second_watcher_waits_for_the_first(every: dict[str, RenderedChart]) -> None:
    found = every["two watchers"]
    assert (found.refusal, found.lint, found.invalid) == ("", [], [])
    assert kinds(found, "Deployment")["watcher"]["spec"]["replicas"] == 2


@needs_helm
def test_the_migration_runs_before_everything_as_the_owner(rendered: RenderedChart) -> None:
    (job,) = kinds(rendered, "Job").values()
    annotations = job["metadata"]["annotations"]
    assert annotations["helm.sh/hook"] == "pre-install,pre-upgrade"
    # A hook comes before other objects: what it needs is in it, or was there before.
    assert not kinds(rendered, "Secret")
    pod = pods(rendered)["migrate"]
    assert "configMap" not in str(pod)
    known = [entry["secretRef"]["name"] for entry in container(pod)["envFrom"]]
    assert known == ["tillgate-common", "tillgate-owner"]


@needs_helm
def test_what_is_evicted_is_one_at_a_time(rendered: RenderedChart) -> None:
    budgets = kinds(rendered, "PodDisruptionBudget")
    assert set(budgets) == set(kinds(rendered, "Deployment"))
    for name, budget in budgets.items():
        assert budget["spec"]["maxUnavailable"] == 1
        labels = kinds(rendered, "Deployment")[name]["spec"]["template"]["metadata"]["labels"]
        assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items()


@needs_helm
def test_workers_follow_their_queues_and_web_its_processor(full: RenderedChart) -> None:
    scaled = kinds(full, "ScaledObject")
    for name, found in scaled.items():
        queue = container(pods(full)[name])["args"][5]
        (trigger,) = found["spec"]["triggers"]
        assert f'tillgate_jobs_queued{{queue="{queue}"' in trigger["metadata"]["query"]
        assert found["spec"]["scaleTargetRef"] == {"name": f"pay-{name}"}
    assert set(scaled) == {"worker", "worker-test", "webhooks", "reports", "documents", "clocks"}
    (web,) = kinds(full, "HorizontalPodAutoscaler").values()
    assert web["spec"]["scaleTargetRef"]["name"] == "pay-web"
    for name in {*scaled, "web"}:
        assert "replicas" not in kinds(full, "Deployment")[name]["spec"]


@needs_helm
def test_a_worker_that_scales_without_keda_is_refused(every: dict[str, RenderedChart]) -> None:
    assert "worker.autoscaling needs keda.enabled" in every["no KEDA"].refusal


@needs_helm
def test_every_process_but_the_signer_is_scraped(full: RenderedChart, least: RenderedChart) -> None:
    monitors = kinds(full, "PodMonitor")
    assert set(monitors) == set(kinds(full, "Deployment")) - {"pooler"}
    scraped = {name for name, service in compose().items() if "METRICS_PORT" in str(service)}
    assert scraped == set(monitors) - {"web"}
    for name in scraped:
        env = {entry["name"]: entry.get("value") for entry in container(pods(full)[name])["env"]}
        assert env.items() >= compose()[name]["environment"].items()
    assert "METRICS_PORT" not in str(pods(least))
    for name, monitor in monitors.items():
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        ports = {port["name"] for port in container(pods(full)[name])["ports"]}
        assert endpoint["port"] in ports
    (web,) = monitors["web"]["spec"]["podMetricsEndpoints"]
    assert web["authorization"]["credentials"] == {
        "name": "tillgate-common",
        "key": "METRICS_TOKEN",
    }


@needs_helm
def test_a_pooler_serves_requests_when_there_is_one(
    least: RenderedChart, full: RenderedChart
) -> None:
    text = kinds(full, "ConfigMap")["pooler"]["data"]["pgbouncer.ini"]
    assert "pool_mode = transaction" in text
    assert "max_prepared_statements = 200" in text
    behind = {entry["name"]: entry["value"] for entry in container(pods(full)["web"])["env"]}
    assert behind["DATABASE_POOLER"] == behind["DATABASE_PREPARED_STATEMENTS"] == "true"
    assert "DATABASE_POOLER" not in str(pods(least)["web"])


@needs_helm
def test_every_setting_reaches_every_process(every: dict[str, RenderedChart]) -> None:
    for name, pod in pods(every["every setting"]).items():
        names = {entry["name"] for entry in container(pod)["env"]}
        assert names >= set(PLAIN), name


@needs_helm
def test_a_secret_among_the_settings_is_refused(every: dict[str, RenderedChart]) -> None:
    refusal = every["a secret"].refusal
    assert "SECRET_KEY" in refusal
    assert "very-secret" not in refusal


@pytest.mark.parametrize("name", [name for name in settings() if is_secret(name)])
def test_no_secret_may_be_a_value(name: str) -> None:
    names = schema()["properties"]["settings"]["propertyNames"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(name, names)


def test_the_schema_knows_every_value() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.validate({**values, **LEAST}, schema())
    with pytest.raises(jsonschema.ValidationError, match="replica"):
        jsonschema.validate({**values, **LEAST, "web": {**values["web"], "replica": 3}}, schema())
