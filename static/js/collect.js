// Sends the transaction that passes a merchant's coins on, with the wallet of this browser (EIP-1193). The server has
// made it; here it is only handed on.

const button = document.querySelector("[data-collect]");
const status = document.querySelector("[data-collect-status]");
const wallet = window.ethereum;

async function send() {
  const { chainId, ...call } = JSON.parse(button.dataset.collect);
  const [from] = await wallet.request({ method: "eth_requestAccounts" });
  await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  await wallet.request({ method: "eth_sendTransaction", params: [{ from, ...call }] });
}

if (button && wallet?.request) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await send();
      status.textContent = status.dataset.sent;
    } catch {
      status.textContent = status.dataset.failed;
      button.disabled = false;
    }
  });
}
