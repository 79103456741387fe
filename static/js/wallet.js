// Pays with a wallet of this browser (EIP-6963, EIP-1193). What is sent was made by the server and stands on the button;
// here it is only handed on. Loaded when somebody presses that button.

const dialog = document.getElementById("wallets");
const find = (name) => dialog.querySelector(`[data-wallet-${name}]`);
const button = () => document.getElementById("pay-with-wallet");
const words = (name) => find("words").content.querySelector(`[data-word="${name}"]`).textContent;

class Refused extends Error {} // its message is the name of what people are told

// --- which wallets there are ---------------------------------------------------------------------------

const wallets = new Map();
window.addEventListener("eip6963:announceProvider", ({ detail }) => {
  if (!detail?.provider || !detail.info?.uuid || wallets.has(detail.info.uuid)) return;
  wallets.set(detail.info.uuid, detail);
  list();
});

function found() {
  const announced = [...wallets.values()];
  if (announced.length || !window.ethereum?.request) return announced;
  return [{ info: { name: words("browser") }, provider: window.ethereum }];
}

function row(tag, name, icon) {
  const item = document.createElement("li");
  const made = document.createElement(tag);
  made.className = "button wide";
  if (icon?.startsWith("data:image/")) {
    const picture = new Image(24, 24);
    picture.alt = "";
    picture.src = icon;
    made.append(picture);
  }
  const label = document.createElement("bdi");
  label.textContent = name;
  made.append(label);
  item.append(made);
  return [item, made];
}

function list() {
  if (sent()) return;
  const rows = found().map(({ info, provider }) => {
    const [item, choice] = row("button", info.name, info.icon);
    choice.type = "button";
    choice.addEventListener("click", () => pay(provider));
    return item;
  });
  find("list").replaceChildren(...rows);
  const isPhone = matchMedia("(pointer: coarse)").matches;
  find("apps").hidden = rows.length > 0 || !isPhone;
  find("none").hidden = rows.length > 0 || isPhone;
}

// The documented links with which a wallet's app opens a page in its own browser, where the wallet is announced.
function apps() {
  const page = new URL(location.pathname, location.origin);
  const asset = new URLSearchParams(location.search).get("asset");
  if (asset) page.searchParams.set("asset", asset);
  const there = encodeURIComponent(page.href);
  const links = {
    MetaMask: `https://link.metamask.io/dapp/${page.href.replace(/^https?:\/\//, "")}`,
    "Trust Wallet": `https://link.trustwallet.com/open_url?coin_id=60&url=${there}`,
    "Coinbase Wallet": `https://go.cb-w.com/dapp?cb_url=${there}`,
  };
  return Object.entries(links).map(([name, href]) => {
    const [item, link] = row("a", name);
    Object.assign(link, { href, target: "_top", rel: "noreferrer" });
    return item;
  });
}

// --- what people are told ------------------------------------------------------------------------------

function tell(name) {
  find("problem").hidden = true;
  find("status").hidden = !name;
  find("status").textContent = name ? words(name) : "";
}

function complain(name) {
  tell("");
  find("problem").hidden = false;
  find("problem").textContent = words(name);
}

const CODES = { 4001: "rejected", 4100: "locked", "-32002": "locked", 4902: "unknown-chain" };

function reason(error) {
  if (error instanceof Refused) return error.message;
  const code = error?.data?.originalError?.code ?? error?.code;
  if (CODES[code]) return CODES[code];
  return /insufficient|exceeds balance/i.test(error?.message) ? "funds" : "failed";
}

// --- paying --------------------------------------------------------------------------------------------

async function switched(provider, chainId) {
  const here = async () => Number(await provider.request({ method: "eth_chainId" })) === Number(chainId);
  if (await here()) return;
  tell("switching");
  try {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  } catch (error) {
    if (reason(error) !== "unknown-chain" || !button()?.dataset.network) throw error;
    await provider.request({ method: "wallet_addEthereumChain", params: [JSON.parse(button().dataset.network)] });
    if (!(await here())) await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  }
  if (!(await here())) throw new Refused("wrong-chain");
}

// A wallet that can't pay would ask for a confirmation in vain. One that can't tell what it has is believed.
async function check(provider, from, { to, data, amount }) {
  const isToken = data !== "0x";
  const holds = { to, data: `0x70a08231${from.slice(2).padStart(64, "0")}` };
  const asked = isToken ? { method: "eth_call", params: [holds, "latest"] } : { method: "eth_getBalance", params: [from, "latest"] };
  let balance;
  try {
    balance = BigInt(await provider.request(asked));
  } catch {
    return;
  }
  if (balance < BigInt(amount)) throw new Refused("funds");
}

let isBusy = false;

async function pay(provider) {
  if (isBusy) return;
  isBusy = true;
  const asked = button()?.dataset.wallet;
  try {
    tell("opening");
    const [from] = await provider.request({ method: "eth_requestAccounts" });
    if (!from) throw new Refused("locked");
    const { chainId, amount, ...call } = JSON.parse(asked);
    await switched(provider, chainId);
    await check(provider, from, { ...call, amount });
    if (button()?.dataset.wallet !== asked) throw new Refused("changed");
    tell("confirm");
    const hash = await provider.request({ method: "eth_sendTransaction", params: [{ from, ...call }] });
    remember(asked, hash);
  } catch (error) {
    complain(reason(error));
  } finally {
    isBusy = false;
  }
}

// --- after it was sent: nobody is to pay twice before the network has told -----------------------------

const key = () => `sent:${location.pathname}`;
const sent = () => sessionStorage.getItem(key()) === button()?.dataset.wallet;

function remember(asked, hash) {
  sessionStorage.setItem(key(), asked);
  sessionStorage.setItem(`${key()}:hash`, hash);
  follow();
}

function follow() {
  if (!button() || !sent()) {
    if (dialog.open && !button()) dialog.close();
    return;
  }
  document.getElementById("waiting").textContent = words("sent");
  const asked = document.getElementById("transaction"); // where the page looks for a payment that isn't seen yet
  if (asked && !asked.value) asked.value = sessionStorage.getItem(`${key()}:hash`);
  tell("sent");
  const [item, again] = row("button", words("again"));
  again.type = "button";
  again.classList.add("quiet");
  again.addEventListener("click", () => {
    sessionStorage.removeItem(key());
    open();
  });
  find("list").replaceChildren(item);
  find("apps").hidden = find("none").hidden = true;
}

document.addEventListener("htmx:after:swap", follow);

export function open() {
  const { amount, chain } = button().dataset;
  find("amount").textContent = amount;
  find("chain").textContent = chain;
  find("link").href = button().href;
  find("copy").dataset.copy = button().dataset.address;
  find("apps").querySelector("ul").replaceChildren(...apps());
  tell("");
  list();
  follow();
  if (!dialog.open) dialog.showModal();
  window.dispatchEvent(new Event("eip6963:requestProvider"));
}
