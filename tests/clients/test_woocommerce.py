"""The WooCommerce plugin: its own tests against a running Tillgate and a shop that hears its
webhooks, and the zip of it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.ports import free_port
from tests.clients import declarations
from tests.stack import ROOT, Demo, wait_for

PLACE = ROOT / "clients" / "woocommerce"
PLUGIN = PLACE / "tillgate"
EXTENSIONS = ("curl", "json", "mbstring")
# Whether the checkout block's script registers what the block asks of it.
BLOCK = """
const made = [];
global.window = {
  wc: {
    wcBlocksRegistry: { registerPaymentMethod: (one) => made.push(one) },
    wcSettings: { getSetting: () => ({ title: "A &amp; B" }) },
  },
  wp: {
    element: { createElement: (...all) => all },
    htmlEntities: { decodeEntities: (text) => text.replace("&amp;", "&") },
  },
};
require(process.argv[1]);
const [one] = made;
if (made.length !== 1 || one.name !== "tillgate" || one.ariaLabel !== "A & B"
    || !one.canMakePayment()) process.exit(1);
if (!one.content || !one.edit || !one.label || !one.supports.features.includes("products"))
  process.exit(1);
"""


@pytest.fixture(scope="module")
def php() -> str:
    found = shutil.which("php")
    if found is None:
        pytest.skip("php isn't installed (Debian: php-cli php-curl php-mbstring)")
    loaded = subprocess.run(
        [found, "-m"], capture_output=True, text=True, check=True
    ).stdout.split()
    if missing := [name for name in EXTENSIONS if name not in loaded]:
        pytest.skip(f"php lacks {', '.join(missing)}")
    return found


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """As it is installed: out of the zip."""
    packed = subprocess.run(
        [sys.executable, "pack.py", str(tmp_path)],
        cwd=PLACE,
        capture_output=True,
        text=True,
        check=True,
    )
    with zipfile.ZipFile(packed.stdout.strip()) as opened:
        opened.extractall(tmp_path)
    return tmp_path / "tillgate"


@pytest.fixture
def shop(php: str, demo: Demo, plugin: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shop that is being served."""
    port = free_port()
    environment = {
        **os.environ,
        "SHOP_FOLDER": str(tmp_path),
        "SHOP_URL": f"http://127.0.0.1:{port}",
        "PLUGIN_FOLDER": str(plugin),
        "TILLGATE_URL": demo.info["base_url"],
        "TILLGATE_KEY": demo.info["store"]["keys"]["test"]["secret"],
        "TILLGATE_EMAIL": demo.info["dashboard"]["email"],
        "TILLGATE_PASSWORD": demo.info["dashboard"]["password"],
        "TILLGATE_TOTP": demo.info["dashboard"]["totp_secret"],
        "PHP_CLI_SERVER_WORKERS": "2",
    }
    command = [php, "-d", "variables_order=EGPCS", "-S", f"127.0.0.1:{port}", "tests/shop.php"]
    # The server forks, and its children outlive it: all of them are one group.
    log = (tmp_path / "shop.log").open("w")
    server = subprocess.Popen(
        command, cwd=PLACE, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    wait_for(lambda: "started" in (tmp_path / "shop.log").read_text(), bool)
    yield environment
    os.killpg(server.pid, signal.SIGTERM)
    server.wait()
    log.close()


def test_it_works_against_a_running_service(php: str, shop: dict[str, str], tmp_path: Path) -> None:
    command = [php, "-d", "variables_order=EGPCS", "tests/run.php"]
    run = subprocess.run(command, cwd=PLACE, env=shop, capture_output=True, text=True, check=False)
    failed = [line for line in run.stdout.splitlines() if not line.startswith("ok ")]
    log = (tmp_path / "shop.log").read_text()
    warned = [line for line in log.splitlines() if "PHP" in line or "[5" in line]
    assert run.returncode == 0, "\n".join([*failed, run.stderr, *warned[-20:]])
    assert run.stdout.count("\nok ") >= 40


# A change of the real ones -> what is said of it.
CHANGES = {
    "function wc_get_orders( $args )": (
        "function wc_get_orders( $query )",
        "wc_get_orders: $args is really $query",
    ),
    "get_total( $context = 'view' )": (
        "get_total( $context = 'edit' )",
        "WC_Order::get_total: $context is 'view' by default, really 'edit'",
    ),
    "function add_order_note( $note, $is_customer_note = 0,": (
        "function add_order_note( $note, $is_customer_note,",
        "WC_Order::add_order_note: $is_customer_note is really required",
    ),
    "function get_payment_method( $context = 'view' )": (
        "function get_gateway( $context = 'view' )",
        "WC_Order::get_payment_method: isn't declared",
    ),
    "function delete_meta_data( $key )": (
        "function delete_meta_data( $key, $value )",
        "WC_Order::delete_meta_data: $value is missing",
    ),
    "public function set_payment_method(": (
        "protected function set_payment_method(",
        "WC_Order::set_payment_method: public, really protected",
    ),
    "public static function declare_compatibility( string $feature_id,": (
        "public static function declare_compatibility( int $feature_id,",
        "FeaturesUtil::declare_compatibility: $feature_id takes string, really int",
    ),
    "public function process_admin_options()": (
        "public function process_admin_options( $section )",
        "Tillgate_Gateway::process_admin_options: $section isn't taken",
    ),
}


@pytest.mark.parametrize("before", CHANGES)
def test_a_stand_in_that_differs_from_the_real_one_is_found(
    php: str, tmp_path: Path, before: str
) -> None:
    real = (PLACE / "tests" / "stubs" / "woocommerce.php").read_text()
    (tmp_path / "real.php").write_text(real)
    assert declarations.compare(tmp_path)[0] == []
    after, found = CHANGES[before]
    assert real.count(before) == 1
    (tmp_path / "real.php").write_text(real.replace(before, after))
    said, _ = declarations.compare(tmp_path)
    assert [text for text in said if text.endswith(found)], said


def test_every_file_is_php(php: str) -> None:
    for path in sorted(PLACE.rglob("*.php")):
        run = subprocess.run([php, "-l", str(path)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout


def test_no_file_of_the_plugin_is_opened_by_itself(php: str, plugin: Path) -> None:
    for path in sorted(plugin.rglob("*.php")):
        run = subprocess.run([php, str(path)], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", ""), path


def test_the_same_sources_are_the_same_zip(tmp_path: Path) -> None:
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        subprocess.run(
            [sys.executable, "pack.py", str(tmp_path / name)],
            cwd=PLACE,
            capture_output=True,
            check=True,
        )
        made.append(next((tmp_path / name).glob("*.zip")))
    assert made[0].read_bytes() == made[1].read_bytes()
    names = zipfile.ZipFile(made[0]).namelist()
    assert {"tillgate/tillgate.php", "tillgate/readme.txt", "tillgate/uninstall.php"} <= set(names)
    assert not [name for name in names if "tests" in name]


def test_the_texts_for_translators_are_those_of_the_plugin() -> None:
    command = [sys.executable, "-c", "import pack; print(pack.texts() == pack.POT.read_text())"]
    run = subprocess.run(command, cwd=PLACE, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True", "run python3 clients/woocommerce/pack.py --texts"


def test_every_text_is_translated_in_the_plugins_domain() -> None:
    for path in PLUGIN.rglob("*.php"):
        for call in re.findall(r"\b(?:esc_html_|esc_attr_)?_[_ex]\(.*", path.read_text()):
            assert "'tillgate' )" in call, (path.name, call)


def test_the_block_is_registered() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node isn't installed")
    run = subprocess.run(
        [node, "-e", BLOCK, str(PLUGIN / "assets" / "blocks.js")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
