"""The pods of the chart as Helm renders it: each with its arguments, the settings and Secrets that
it is given, its mounts, and its probes. Every Secret is made as the guide says."""

import secrets
import shlex
from contextlib import ExitStack
from typing import Any

import requests
import yaml

from dev import charts, machine
from tests.console.test_chart import CHART, container, is_secret, kinds
from tests.night.containers import PLACE, Containers
from tests.night.machine import Program, Variables, read_variables, write_env_files
from tests.poolers import ChartPooler
from tests.stack import wait_for
from tests.whole import usually

WORKLOADS = ("Deployment", "StatefulSet", "Job", "CronJob")
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
JOBS = {"migrate", "backup", "audit"}


class Chart(Containers):
    """The release `pay` with a pooler, files in a claim, backups, and figures for Prometheus."""

    def _begin(self, closing: ExitStack) -> None:
        direct = f"@/{self.database}?host={self.grounds.socket}"
        self.network = {"@db.example.com:5432/tillgate": direct}
        password = self.grounds.secrets["REDIS_PASSWORD"]
        port = closing.enter_context(self._redis("--requirepass", password, "--save", ""))
        common = self.grounds.settings(
            REDIS_URL=f"redis://:{password}@127.0.0.1:{port}/0", CHAIN_ETHEREUM_URL=self.chain
        )
        settings = {name: value for name, value in common.items() if not is_secret(name)}
        self.secrets = {"common": {name: common[name] for name in common.keys() - settings.keys()}}
        self.make_image()
        closing.callback(self.image.open)
        self._keep_secrets()
        (self.rendered,) = charts.render(CHART, _values(settings))
        assert self.rendered.refusal == ""
        self._begin_pooler(closing)

    def _keep_secrets(self) -> None:
        """The files of new_env.sh with the hosts of this release, as the guide has them."""
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        files = self.folder / "files"
        files.mkdir()
        write_env_files(files)
        for path in files.glob("*.env"):
            text = path.read_text().replace("@postgres:", "@db.example.com:")
            path.write_text(
                text.replace("@pooler:", "@pay-pooler:").replace(
                    "//tillgate:", f"//{self.grounds.owner}:"
                )
            )
        for name in values["secrets"].keys() - {"common", "signerKey"}:
            self.secrets[name] = read_variables(files / f"{name}.env")
        owner = self.secrets["owner"]
        owner["DATABASE_DIRECT_URL"] = owner["DATABASE_URL"]
        self.secrets["signer"]["SIGNER_PASSPHRASE"] = self.grounds.passphrase
        (self.folder / "volumes/keys/signer.key").write_bytes(self.grounds.key)
        (self.folder / "secrets/backup_passphrase").write_text(secrets.token_hex(16))

    def _begin_pooler(self, closing: ExitStack) -> None:
        """Where the machine has no PgBouncer, those who would come through it come directly."""
        place = "@pay-pooler:5432/tillgate"
        if machine.pgbouncer() is None:
            self.network[place] = self.network["@db.example.com:5432/tillgate"]
            return
        text = kinds(self.rendered, "ConfigMap")["pooler"]["data"]["pgbouncer.ini"]
        (pod,) = kinds(self.rendered, "Deployment")["pooler"]["spec"]["template"]["spec"][
            "containers"
        ]
        addresses = (secret.get("DATABASE_URL", "") for secret in self.secrets.values())
        urls = [address for address in addresses if place in address]
        pooler = closing.enter_context(ChartPooler(text, pod["command"], urls, self.grounds.socket))
        self.network[place] = f"@127.0.0.1:{pooler.port}/{self.database}"
        wait_for(pooler.is_listening, bool, 20)

    # --- what the chart says

    def pods(self) -> dict[str, dict[str, Any]]:
        workloads = kinds(self.rendered, *WORKLOADS)
        return {
            name: entry["spec"].get("jobTemplate", entry)["spec"]["template"]["spec"]
            for name, entry in workloads.items()
        }

    def programs(self, name: str, command: str = "") -> list[Program]:
        """`command` is what `kubectl exec` asks of it beside its own."""
        pod = container(self.pods()[name])
        variables: Variables = {}
        for entry in pod["envFrom"]:
            variables |= self.secrets[entry["secretRef"]["name"].removeprefix("tillgate-")]
        variables |= {entry["name"]: entry["value"] for entry in pod["env"]}
        words = shlex.split(command) or pod.get("args")
        return [self.container(name, words, variables, self._mounts(pod))]

    @staticmethod
    def _mounts(pod: dict[str, Any]) -> Variables:
        below = f"{PLACE}/var/"
        return {
            mount["mountPath"].removeprefix(below): mount.get("subPath", "")
            for mount in pod["volumeMounts"]
            if mount["mountPath"].startswith(below)
        }

    def probes(self) -> list[tuple[str, str]]:
        """Pods with their probes; usually one of those that ask the same with the same Secrets."""
        pods = {name: container(self.pods()[name]) for name in self.running}
        every = [(name, kind) for name, pod in pods.items() for kind in PROBES if kind in pod]
        kinds = {
            str((pods[name][kind].get("exec", kind), pods[name]["envFrom"])): (name, kind)
            for name, kind in every
        }
        return usually(short=list(kinds.values()), whole=every)

    def passes(self, name: str, kind: str) -> bool:
        """Tell whether a probe of Kubernetes passes, over HTTP or from a command."""
        probe = container(self.pods()[name])[kind]
        if "exec" in probe:
            self.probe(self.running[name], probe["exec"]["command"]).run()
            return True
        asked = probe["httpGet"]
        headers = {entry["name"]: entry["value"] for entry in asked["httpHeaders"]}
        answer = requests.get(
            f"http://127.0.0.1:{self.port}{asked['path']}",
            headers=headers,
            timeout=probe.get("timeoutSeconds", 1),
        )
        return answer.status_code == 200


def _values(settings: Variables) -> dict[str, Any]:
    return {
        "image": {"repository": "registry.example.com/tillgate"},
        "settings": settings,
        "storage": {"existingClaim": "files"},
        "backup": {"enabled": True, "existingClaim": "backups"},
        "podMonitor": {"enabled": True},
        "pooler": {"enabled": True, "image": "pgbouncer:1.24", "host": "db.example.com"},
    }
