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
const still = (asked) => {
  if (button()?.dataset.wallet !== asked) throw new Refused("changed");
};

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
    still(asked);
    if (await signed(provider, from, chainId, asked)) return;
    tell("confirm");
    remember(asked, (await sentTogether(provider, from, chainId, call, asked)) ?? (await provider.request({ method: "eth_sendTransaction", params: [{ from, ...call }] })));
  } catch (error) {
    complain(reason(error));
  } finally {
    isBusy = false;
  }
}

// --- signing, where the service carries it out and the wallet needs no coin for gas ---------------------

const UNSUPPORTED = [4200, -32601, -32004]; // methods that a wallet doesn't have
const isUnsupported = (error) => UNSUPPORTED.includes(error?.data?.originalError?.code ?? error?.code);

const UNDEPLOYED = "6492".repeat(16); // how signatures of wallets end that no block has yet (ERC-6492)

async function signed(provider, from, chainId, asked) {
  const path = button().dataset.signature;
  if (!path) return false;
  const offer = await fetch(`${path}&payer=${from}`, { cache: "no-store" });
  if (!offer.ok) return false; // what can't be paid so now is paid by a transaction
  const { typedData, requirements, cost } = await offer.json();
  if (cost) await agreed(cost);
  tell(cost ? "sign-total" : "sign");
  let signature;
  try {
    signature = await provider.request({ method: "eth_signTypedData_v4", params: [from, JSON.stringify(typedData)] });
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw error;
  }
  if (signature.endsWith(UNDEPLOYED)) return false; // its first transaction deploys it
  const [account] = await provider.request({ method: "eth_accounts" });
  const chain = await provider.request({ method: "eth_chainId" });
  if (account?.toLowerCase() !== from.toLowerCase() || Number(chain) !== Number(chainId)) throw new Refused("switched");
  still(asked);
  const signedAs = typedData.message.from ? { authorization: typedData.message } : { permit2Authorization: { from, ...typedData.message } };
  const payload = { x402Version: 2, accepted: requirements, payload: { signature, ...signedAs } };
  if (!(await hand(path, { x402Version: 2, paymentPayload: payload, paymentRequirements: requirements }))) return false;
  remember(asked, "");
  return true;
}

// What is signed beside the price is read before the wallet asks.
async function agreed(cost) {
  for (const name of ["price", "fee", "total"]) find(name).textContent = cost[name];
  tell("");
  find("cost").hidden = false;
  find("list").hidden = true;
  const agrees = await new Promise((done) => {
    find("agree").onclick = () => done(true);
    dialog.addEventListener("close", () => done(false), { once: true });
  });
  find("cost").hidden = true;
  find("list").hidden = false;
  if (!agrees) throw new Refused("rejected");
}

// The same signature pays once, however often it is handed in: a lost answer is asked for again. False when it can't
// be carried out any more, nothing was recorded, and a transaction pays.
async function hand(path, body) {
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(path.split("?")[0], { method: "POST", body: JSON.stringify(body) });
    } catch (error) {
      if (attempt === 4) throw new Refused("unsent");
      await new Promise((done) => setTimeout(done, attempt * 1000));
      continue;
    }
    if (answer.ok) return true;
    const told = await answer.json().catch(() => ({}));
    if (told.error === "unsigned") return false;
    throw new Refused(told.error ?? "unsent");
  }
}

// --- one step of a wallet that sends calls together (EIP-5792): a smart account, whose hash comes later --

const CALL_LOOKS = 600;

async function sentTogether(provider, from, chainId, call, asked) {
  let can;
  try {
    const all = await provider.request({ method: "wallet_getCapabilities", params: [from, [chainId]] });
    can = all?.[chainId]?.atomic?.status;
  } catch {
    return null;
  }
  if (can !== "supported") return null;
  const together = { version: "2.0.0", from, chainId, atomicRequired: true, calls: [call] };
  let id;
  try {
    ({ id } = await provider.request({ method: "wallet_sendCalls", params: [together] }));
  } catch (error) {
    if (isUnsupported(error)) return null;
    throw error;
  }
  remember(asked, "");
  for (let look = 0; look < CALL_LOOKS; look += 1) {
    const { status, receipts } = await provider.request({ method: "wallet_getCallsStatus", params: [id] });
    if (status >= 400) {
      forget();
      throw new Refused(status >= 500 ? "reverted" : "failed");
    }
    if (receipts?.length) return receipts[0].transactionHash;
    await new Promise((done) => setTimeout(done, 1000));
  }
  return "";
}

// --- after it was sent: nobody is to pay twice before the network has told -----------------------------

const key = () => `sent:${location.pathname}`;
const sent = () => sessionStorage.getItem(key()) === button()?.dataset.wallet;
const forget = () => sessionStorage.removeItem(key());

function remember(asked, hash) {
  sessionStorage.setItem(key(), asked);
  sessionStorage.setItem(`${key()}:hash`, hash);
  follow();
}

// A signature that the network has refused for good is no payment: the page says so, once.
let refused = "";

function follow() {
  const [id, state] = (button()?.dataset.signed ?? "").split(" ");
  if (state === "failed" && sent() && refused !== id) {
    refused = id;
    forget();
    list();
    return complain("reverted");
  }
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
    forget();
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
