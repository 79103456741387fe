// Keeps the checkout current while somebody looks at it, and tells the page that frames it what happens.
// Without it the page reloads itself.

const PACE = [[20, 2500], [60, 5000], [Infinity, 15000]]; // up to so many looks, this many milliseconds apart
const part = () => document.getElementById("checkout");

let looks = 0;
let timer = 0;

function schedule() {
  clearTimeout(timer);
  if (document.hidden || !part() || !("poll" in part().dataset)) return;
  const [, wait] = PACE.find(([upTo]) => looks < upTo);
  timer = setTimeout(() => {
    looks += 1;
    window.htmx.trigger(part(), "refresh");
    schedule(); // also when this look fails: a lost connection comes back
  }, wait);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  looks = 0;
  if (part() && "poll" in part().dataset) window.htmx.trigger(part(), "refresh");
  schedule();
});
document.addEventListener("htmx:after:swap", () => {
  if (told.status !== part()?.dataset.status) looks = 0;
  schedule();
  tell();
});

// --- paying

async function bringDialog(path) {
  if (document.getElementById("wallets")) return;
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(answer.statusText);
  if (document.getElementById("wallets")) return; // pressed twice
  document.body.insertAdjacentHTML("beforeend", await answer.text());
  const style = document.querySelector("#wallets link");
  await new Promise((done) => (style.onload = style.onerror = done));
}

document.addEventListener("click", async (event) => {
  const pressed = event.target.closest?.("[data-wallet], [data-folds], .coin-list a");
  if (!pressed) return;
  if (pressed.dataset.wallet === undefined) {
    const sheet = pressed.closest("details");
    sheet.open = false;
    sheet.querySelector("summary").focus();
    return;
  }
  event.preventDefault();
  try {
    await bringDialog(pressed.dataset.dialog);
    const wallet = await import(pressed.dataset.module);
    wallet.open();
  } catch {
    location.href = pressed.href; // what the button does without it
  }
});

// --- inside a frame

const told = { status: part()?.dataset.status, height: 0 };
const parentOrigin = part()?.dataset.embeddedIn;

function post(event, more = {}) {
  if (parentOrigin && window.parent !== window) window.parent.postMessage({ source: "service:checkout", event, ...more }, parentOrigin);
}

function outcome({ status, successUrl }) {
  if (status === "completed") post("completed", { success_url: successUrl || null });
  else if (status === "failed") post("failed", { status });
  else if (status === "expired") post("expired");
}

function tell() {
  const now = part()?.dataset;
  if (!now || now.status === told.status) return;
  told.status = now.status;
  post("status", { status: now.status });
  outcome(now);
}

function measure() {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  if (height === told.height) return;
  told.height = height;
  post("resize", { height });
}

if (parentOrigin) {
  post("ready");
  new ResizeObserver(measure).observe(document.body);
  measure();
  // Of a payment that isn't there, there is no status to tell.
  if (!("isMissing" in part().dataset)) post("status", { status: told.status });
  outcome(part().dataset);
}

schedule();
