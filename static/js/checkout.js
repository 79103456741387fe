// Keeps the checkout current; without it the page reloads itself.

const PACE = [[20, 2500], [60, 5000], [Infinity, 15000]]; // looks, and milliseconds between them
const HEARD = 45_000;
const QUIET = 60_000;
const part = () => document.getElementById("checkout");

let status = part()?.dataset.status;
let looks = 0;
let timer = 0;

function schedule() {
  clearTimeout(timer);
  if (document.hidden || !part() || !("poll" in part().dataset)) return;
  const [, usual] = PACE.find(([upTo]) => looks < upTo);
  // While news is heard, a look is for what was missed.
  const wait = status?.endsWith("pending") && Date.now() - heardAt < HEARD ? QUIET : usual;
  timer = setTimeout(() => {
    looks += 1;
    window.htmx.trigger(part(), "refresh");
    schedule(); // also when a look fails
  }, wait);
}

// A question waits until there is news. Not for ever, and not while nobody looks.
const LISTENS = 1_800_000;
let until = Date.now() + LISTENS;
let beat = "";
let heardAt = 0;

async function pulse() {
  const path = part()?.dataset.pulse;
  if (document.hidden || !path || Date.now() > until) return;
  const before = beat || part().dataset.beat;
  const answer = await fetch(`${path}?${new URLSearchParams({ since: before })}`, { cache: "no-store" });
  if (!answer.ok) return;
  const now = await answer.text();
  heardAt = Date.now();
  if (before !== now) window.htmx.trigger(part(), "refresh");
  beat = now;
}

async function listen() {
  const pause = new Promise((done) => setTimeout(done, 1000));
  await Promise.all([pause, pulse().catch(() => {})]); // a lost connection comes back
  listen();
}

listen();

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  looks = 0;
  until = Date.now() + LISTENS;
  if (part() && "poll" in part().dataset) window.htmx.trigger(part(), "refresh");
  schedule();
});
document.addEventListener("htmx:after:swap", () => {
  const now = part()?.dataset.status;
  if (status !== now) looks = 0;
  status = now;
  schedule();
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

// The bar at the end of a phone's page would lie on the code.
document.addEventListener("change", ({ target }) => {
  if (target.id === "show-code" && target.checked) document.querySelector(".scan .qr").scrollIntoView({ block: "center" });
});

schedule();
