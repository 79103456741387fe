// The point of sale without a connection: a sale has its key before it is sent, stays on the device until the server
// has answered, and is sent again under the same key. Without this script the form is sent as it is.

const TILL = "/dashboard/point-of-sale";
const SALE = /^\/dashboard\/point-of-sale\/[0-9a-f-]{36}$/;
const RETRY = [1000, 2000, 4000, 8000, 15000];
const TIMEOUT = 15000;
const STALE = 12000;
const LONGEST = 12;
const form = document.querySelector("[data-till]");
const offline = document.querySelector("[data-offline]");
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// A sentence of the page, with what it has a place for.
const words = (name, values = {}) => Object.entries(values).reduce((text, [place, value]) => text.replace(`{${place}}`, () => value), offline.dataset[name]);

function say(text) {
  offline.textContent = text;
  offline.hidden = !text;
}

// --- what the device remembers ------------------------------------------------------------------------

const place = form ? `till:${form.elements.store.value}:${form.elements.mode.value}` : "";
// The key is made anew when it is sent for the first time: another page of this device may have this sale, too.
const blank = () => ({ key: newKey(), status: "open", amount: "", note: "", vat: "", quantities: {}, lines: [] });

function read() {
  try {
    return JSON.parse(localStorage.getItem(place)) || {};
  } catch {
    return {};
  }
}

const memory = { sale: blank(), last: null, discards: [], ...read() };

function remember() {
  try {
    localStorage.setItem(place, JSON.stringify(memory));
  } catch {
    // A device that keeps nothing still sends the key that the page has.
  }
}

// --- the form and the sale ----------------------------------------------------------------------------

const fields = form?.elements;
const money = (cents) => new Intl.NumberFormat(form.dataset.locale, { style: "currency", currency: form.dataset.currency }).format(cents / 100);
const quantityInputs = () => [...form.querySelectorAll("input[data-price]")];

function cents(text) {
  const found = /^(\d{1,9})(?:[.,](\d{1,2}))?$/.exec(text.trim());
  return found ? Number(found[1]) * 100 + Number((found[2] || "").padEnd(2, "0")) : 0;
}

function gather() {
  const { sale } = memory;
  sale.amount = fields.amount.value;
  sale.note = fields.note.value;
  sale.vat = fields.vat?.value || "";
  sale.quantities = Object.fromEntries(quantityInputs().filter((input) => input.value).map((input) => [input.name, input.value]));
}

function fill() {
  const { sale } = memory;
  fields.amount.value = sale.amount;
  fields.note.value = sale.note;
  if (fields.vat && [...fields.vat.options].some((option) => option.value === sale.vat)) fields.vat.value = sale.vat;
  for (const input of quantityInputs()) input.value = sale.quantities[input.name] || "";
}

const pieces = () => quantityInputs().reduce((sum, input) => sum + (Number(input.value) || 0), 0);
const added = () => memory.sale.lines.reduce((sum, line) => sum + Number(line.split(":")[0]), 0);
const chosen = () => quantityInputs().reduce((sum, input) => sum + (Number(input.value) || 0) * Number(input.dataset.price), 0);
const isRead = () => !fields.amount.value.trim() || cents(fields.amount.value) > 0;
const total = () => cents(fields.amount.value) + added() + chosen();

function show() {
  const sum = total();
  const { lines } = memory.sale;
  const count = pieces();
  // What the server alone can read isn't in the sum.
  form.querySelector("[data-total]").textContent = sum && isRead() ? ` ${money(sum)}` : "";
  const parts = [count ? words(count === 1 ? "item" : "items", { number: count, amount: money(chosen()) }) : "", ...lines.map((line) => money(Number(line.split(":")[0])))].filter(Boolean);
  form.querySelector("[data-sum]").textContent = parts.join(" + ");
  const counter = form.querySelector("[data-count]");
  if (counter) counter.textContent = count ? ` (${count})` : "";
  form.querySelector("[data-noted]").textContent = fields.note.value ? " ✓" : "";
  form.querySelector("[data-added]").replaceChildren(...lines.map((line) => Object.assign(document.createElement("input"), { type: "hidden", name: "line", value: line })));
  fields.form_key.value = memory.sale.key;
  fields.expected.value = (isRead() && sum) || "";
}

function changed() {
  if (memory.sale.status !== "open") return;
  gather();
  remember();
  show();
}

function press(key) {
  const { mark } = form.dataset;
  const text = fields.amount.value;
  const places = text.split(/[.,]/)[1];
  if (key === "back") fields.amount.value = text.slice(0, -1);
  else if (text.length + key.length > LONGEST || (places !== undefined && (key === mark || places.length >= 2))) return;
  else if (key === mark) fields.amount.value = `${text || "0"}${mark}`;
  else fields.amount.value = text === "0" || !text ? key.replace(/^0+$/, "0") : text + key;
  changed();
}

function add() {
  const sum = cents(fields.amount.value);
  if (!sum) return;
  memory.sale.lines.push(`${sum}:${fields.vat?.value || ""}`);
  fields.amount.value = "";
  changed();
}

// --- sending ------------------------------------------------------------------------------------------

const ofSale = (name) => (memory.sale.total ? words(`${name}Of`, { amount: money(memory.sale.total) }) : words(name));
let timer = 0;
let tries = 0;
let isAsking = false;

function lock() {
  const isSending = memory.sale.status === "sending";
  form.toggleAttribute("data-sending", isSending);
  for (const input of form.querySelectorAll("input:not([type=hidden]), select, [data-charge]")) input.disabled = isSending;
  if (!isSending) form.querySelector("[data-discards]").hidden = true;
}

function refuse(text) {
  memory.sale.status = "open";
  remember();
  lock();
  say("");
  const box = document.querySelector("[data-refusal]");
  box.textContent = text;
  box.hidden = false;
}

function body(token) {
  const data = new FormData();
  const { sale } = memory;
  const values = { csrfmiddlewaretoken: token, form_key: sale.key, store: fields.store.value, mode: fields.mode.value, currency: sale.currency ?? "" };
  for (const [name, value] of Object.entries({ ...values, amount: sale.amount, vat: sale.vat, note: sale.note, expected: sale.expected, ...sale.quantities })) data.append(name, value);
  for (const line of sale.lines) data.append("line", line);
  return data;
}

async function post(url, data) {
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), TIMEOUT);
  try {
    return await fetch(url, { method: "POST", body: data, signal: abort.signal, credentials: "same-origin" });
  } finally {
    clearTimeout(limit);
  }
}

function askToSignIn() {
  say(words("signsIn"));
  const link = Object.assign(document.createElement("a"), { href: `${form.dataset.signIn}?next=${encodeURIComponent(TILL)}`, textContent: words("link") });
  offline.append(" ", link);
  form.querySelector("[data-discards]").hidden = false;
  return true;
}

// A fresh one, which a page that was kept may need; none where nobody is signed in.
async function token() {
  const answer = await fetch(TILL, { credentials: "same-origin", headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  fields.csrfmiddlewaretoken.value = page.querySelector("[data-till] [name=csrfmiddlewaretoken]")?.value || "";
  return fields.csrfmiddlewaretoken.value;
}

const prices = (page) => [page.querySelector("[data-till]")?.dataset.currency, ...[...page.querySelectorAll("input[data-price]")].map((input) => `${input.name}:${input.dataset.price}`)].join();

// Why, and what the next try needs: another key where this one's sale is done, and the prices of now.
function refused(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const texts = [...page.querySelectorAll("#errors p, .error")].map((part) => part.textContent.trim());
  const why = texts.join(" ") || words("refused");
  const key = page.querySelector("[data-till] [name=form_key]")?.value;
  if (key && key !== memory.sale.key) memory.sale.isSent = false;
  refuse(why);
  if (!key || prices(page) === prices(document)) return;
  sessionStorage.setItem("till-refusal", why);
  location.reload();
}

// Whether what was asked for with a key is settled; anything else is asked again.
async function send() {
  let answer = await post(form.action, body(fields.csrfmiddlewaretoken.value));
  if (answer.status === 403) {
    const renewed = await token();
    if (renewed) answer = await post(form.action, body(renewed));
    else return askToSignIn();
  }
  const { pathname } = new URL(answer.url);
  if (SALE.test(pathname)) {
    memory.last = { url: pathname, total: memory.sale.total };
    memory.sale = blank();
    remember();
    location.assign(pathname);
    return true;
  }
  if (pathname.startsWith(form.dataset.signIn)) return askToSignIn();
  if (answer.status >= 500 || answer.status === 429) return false;
  refused(await answer.text());
  return true;
}

async function attempt() {
  clearTimeout(timer);
  if (isAsking || memory.sale.status !== "sending") return;
  isAsking = true;
  const { key } = memory.sale;
  let isDone = false;
  try {
    isDone = await send();
  } catch {
    // Nobody answered: the sale may have arrived or not, and is sent again under the same key.
  }
  isAsking = false;
  if (memory.sale.key !== key) attempt();
  else if (!isDone) wait();
}

function wait() {
  say(ofSale("waits"));
  // Not sooner: the second tap of an impatient finger must not land on it.
  form.querySelector("[data-discards]").hidden = false;
  timer = setTimeout(attempt, RETRY[Math.min(tries, RETRY.length - 1)]);
  tries += 1;
}

function charge() {
  if (memory.sale.status === "sending") return;
  if (!memory.sale.isSent) memory.sale.key = newKey();
  changed();
  memory.sale.isSent = true;
  memory.sale.expected = fields.expected.value;
  memory.sale.currency = form.dataset.currency;
  memory.sale.total = isRead() ? total() : 0;
  memory.sale.status = "sending";
  remember();
  document.querySelector("[data-refusal]").hidden = true;
  tries = 0;
  lock();
  attempt();
}

// --- giving up ----------------------------------------------------------------------------------------

async function discard() {
  const given = ofSale("givenUp");
  memory.discards.push(memory.sale.key);
  memory.sale = blank();
  remember();
  clearTimeout(timer);
  fill();
  lock();
  show();
  say(given);
  await settle();
}

// Keys that were given up are told to the server, so that a sale that is still on its way isn't charged.
async function settle() {
  for (const key of [...memory.discards]) {
    const data = new FormData();
    for (const [name, value] of Object.entries({ csrfmiddlewaretoken: fields.csrfmiddlewaretoken.value, form_key: key, store: fields.store.value, mode: fields.mode.value })) data.append(name, value);
    try {
      const answer = await post(form.dataset.discard, data);
      const isPlain = answer.headers.get("Content-Type")?.startsWith("text/plain");
      if (answer.status !== 204 && !isPlain) {
        if (answer.status === 403) await token();
        break;
      }
      memory.discards = memory.discards.filter((other) => other !== key);
      remember();
      say(isPlain ? words("notCanceled", { reason: await answer.text() }) : "");
    } catch {
      break;
    }
  }
  if (memory.discards.length) setTimeout(settle, RETRY.at(-1));
}

// --- the pages ----------------------------------------------------------------------------------------

function openTill() {
  // A phone's own keyboard would cover the keys.
  if (matchMedia("(pointer: coarse)").matches) fields.amount.inputMode = "none";
  if (document.querySelector("#errors, .error") && fields.amount.value) changed();
  else fill();
  lock();
  show();
  const last = document.querySelector("[data-last]");
  if (sessionStorage.getItem("till-next")) memory.last = null;
  sessionStorage.removeItem("till-next");
  if (memory.last) {
    const link = last.querySelector("[data-last-link]");
    link.href = memory.last.url;
    link.textContent = memory.last.total ? money(Number(memory.last.total)) : words("show");
    last.hidden = false;
  }
  const refusal = sessionStorage.getItem("till-refusal");
  sessionStorage.removeItem("till-refusal");
  if (memory.sale.status === "sending") attempt();
  else if (refusal) refuse(refusal);
  settle();
}

if (form && location.pathname !== TILL && SALE.test(location.pathname)) {
  // The page of a sale that couldn't be opened: this one was kept.
  form.hidden = true;
  say(words("unknown"));
  const again = () => fetch(location.pathname, { method: "HEAD", cache: "no-store" }).then(() => location.reload(), () => setTimeout(again, RETRY[1]));
  setTimeout(again, RETRY[1]);
} else if (form) {
  openTill();
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  // Before the one of app.js, which would send it.
  form.addEventListener("submit", (event) => {
    if (event.submitter && "names" in event.submitter.dataset) return;
    event.preventDefault();
    event.stopPropagation();
    charge();
  });
  form.addEventListener("click", (event) => {
    const key = event.target.closest("[data-key]");
    const step = event.target.closest("[data-more], [data-less]");
    if (key) press(key.dataset.key);
    else if (step) {
      const input = step.parentElement.querySelector("input");
      const count = (Number(input.value) || 0) + ("more" in step.dataset ? 1 : -1);
      input.value = count > 0 ? Math.min(count, 999) : "";
      changed();
    } else if (event.target.closest("[data-add]")) add();
    else if (event.target.closest("[data-discards]")) discard();
  });
  addEventListener("online", () => {
    tries = 0;
    attempt();
    settle();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

// A sale that is looked at: when nobody answers, the page says of when its state is.
const sale = () => document.querySelector("#sale[data-refreshes]");
if (sale()) {
  let seen = Date.now();
  let at = new Date();
  document.addEventListener("htmx:after:swap", () => {
    seen = Date.now();
    at = new Date();
    say("");
  });
  setInterval(() => {
    if (document.visibilityState !== "visible") seen = Math.max(seen, Date.now() - STALE + 5000);
    else if (sale() && (Date.now() - seen > STALE * 2 || (!navigator.onLine && Date.now() - seen > 1000))) say(words("stateOf", { time: at.toLocaleTimeString() }));
  }, 1000);
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-new-sale]")) sessionStorage.setItem("till-next", "1");
});
document.addEventListener("submit", (event) => {
  if ("signsOut" in event.target.dataset) globalThis.caches?.delete("till-1");
});

// --- on the device ------------------------------------------------------------------------------------

async function install() {
  await navigator.serviceWorker.register(`${TILL}/worker.js`, { scope: TILL });
  if (!form || location.pathname !== TILL) return;
  const kept = await caches.open("till-1");
  const parts = [...document.querySelectorAll("link[rel=stylesheet], link[rel=icon], script[src]")].map((part) => part.href || part.src);
  await Promise.all([TILL, ...parts].map(async (url) => {
    const answer = await fetch(url, { credentials: "same-origin" });
    if (answer.ok && !answer.redirected) await kept.put(url, answer);
  }));
  document.documentElement.dataset.kept = "";
}

if ("serviceWorker" in navigator && globalThis.caches) install().catch(() => {});
