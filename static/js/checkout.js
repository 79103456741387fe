// Keeps the checkout current while somebody looks at it. Without it the page reloads itself.

const PACE = [[20, 2500], [60, 5000], [Infinity, 15000]]; // up to so many looks, this many milliseconds apart
const part = () => document.getElementById("checkout");

let status = part()?.dataset.status;
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

// Coins that wait for a block are shown within two seconds: a question of a line each second says
// whether to look again. Not for ever, and not while nobody looks.
const PULSES = 900;
let pulses = 0;
let beat = "";

async function pulse() {
  const path = part()?.dataset.pulse;
  if (document.hidden || !path || pulses >= PULSES) return;
  pulses += 1;
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) return;
  const now = await answer.text();
  const before = beat || part()?.dataset.beat; // what was seen before the first question is news as well
  if (before !== now) window.htmx.trigger(part(), "refresh");
  beat = now;
}

setInterval(() => pulse().catch(() => {}), 1000); // a lost connection comes back

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  looks = 0;
  pulses = 0;
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
