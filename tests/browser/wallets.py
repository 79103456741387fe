"""A wallet in the browser of a test: it announces itself by EIP-6963 and asks the local chain,
which signs with its unlocked account."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests
from playwright.sync_api import Page

from tests.chain.local import SEPOLIA_ID, LocalChain

ANNOUNCING = """
(() => {
  const icon = "data:image/svg+xml," + encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>');
  const info = Object.freeze({
    uuid: "0d1f7b3e-2f7e-4a67-9c1a-000000000001", name: "Test Wallet", icon, rdns: "example.wallet"
  });
  const request = async ({ method, params = [] }) => {
    const { result, error } = JSON.parse(
      await window.walletAnswers(method, JSON.stringify(params)));
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  };
  const detail = Object.freeze({ info, provider: { request } });
  const announce = () => window.dispatchEvent(
    new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
})();
"""


@dataclass
class Wallet:
    """Answers as its person decides: `refusals` has the error that a method is answered with,
    once; `next_account` is chosen while something is signed, and `while_signing` happens then. One
    that `sends_together` is a smart account's (EIP-5792); one that `is_undeployed` signs as a
    contract that no block has yet (ERC-6492)."""

    chain: LocalChain
    account: str
    network: int = SEPOLIA_ID
    known: set[int] = field(default_factory=lambda: {1, SEPOLIA_ID})
    refusals: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    next_account: str = ""
    while_signing: Callable[[], None] | None = None
    sends_together: bool = False
    is_undeployed: bool = False

    def enter(self, page: Page) -> None:
        """Add the wallet to every page that is opened from now on."""
        page.expose_function("walletAnswers", self.answer)
        page.add_init_script(ANNOUNCING)

    def answer(self, method: str, params: str) -> str:
        given = json.loads(params)
        self.asked.append((method, given))
        if method in self.refusals:
            code, message = self.refusals.pop(method)
            return json.dumps({"error": {"code": code, "message": message}})
        return json.dumps(self._result(method, given))

    def _result(self, method: str, given: list[Any]) -> dict[str, Any]:
        if method in ("eth_requestAccounts", "eth_accounts"):
            return {"result": [self.account]}
        if method == "wallet_getCapabilities":
            atomic = {"atomic": {"status": "supported"}}
            return {"result": {given[1][0]: atomic} if self.sends_together else {}}
        if method == "wallet_sendCalls":
            [call] = given[0]["calls"]
            return {
                "result": {"id": self._asked("eth_sendTransaction", {"from": self.account} | call)}
            }
        if method == "wallet_getCallsStatus":
            receipt = self._asked("eth_getTransactionReceipt", given[0])
            is_good = receipt is not None and int(receipt["status"], 16)
            status = 100 if receipt is None else 200 if is_good else 500
            return {"result": {"status": status, "receipts": [receipt] if receipt else []}}
        if method == "eth_signTypedData_v4":
            if self.while_signing is not None:
                self.while_signing()
            signature = self._asked(method, given[0], json.loads(given[1]))
            self.account, self.next_account = self.next_account or self.account, ""
            signature += "6492" * 16 if self.is_undeployed else ""
            return {"result": signature}
        if method == "eth_chainId":
            return {"result": hex(self.network)}
        if method == "wallet_addEthereumChain":
            self.known.add(int(given[0]["chainId"], 16))
            return {"result": None}
        if method == "wallet_switchEthereumChain":
            wanted = int(given[0]["chainId"], 16)
            if wanted not in self.known:
                return {"error": {"code": 4902, "message": "Unrecognized chain ID"}}
            self.network = wanted
            return {"result": None}
        return self._told(method, given)

    def _told(self, method: str, given: list[Any]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        told: dict[str, Any] = requests.post(self.chain.url, json=body, timeout=60).json()
        return {name: told[name] for name in ("result", "error") if name in told}

    def _asked(self, method: str, *given: Any) -> Any:
        return self._told(method, list(given))["result"]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The transactions that it was asked to confirm."""
        return [given[0] for method, given in self.asked if method == "eth_sendTransaction"]
