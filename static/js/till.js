// The till's keys, and the total on its button. Without it the amount is typed and the total stands on the next page.

const form = document.querySelector("[data-till]");
const amount = form.elements.amount;
const PLACES = 2;

// A phone's own keyboard would cover the keys.
if (matchMedia("(pointer: coarse)").matches) amount.inputMode = "none";

function press(key) {
  const text = amount.value;
  const places = text.split(".")[1];
  if (key === "back") amount.value = text.slice(0, -1);
  else if (text.length >= amount.maxLength || (places !== undefined && (key === "." || places.length >= PLACES))) return;
  else amount.value = key === "." && !text ? "0." : text === "0" && key !== "." ? key : text + key;
  tell();
}

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-key]");
  if (button) press(button.dataset.key);
});

// --- the total, in whole cents as the server counts it ------------------------------------------------

function cents(text) {
  const found = /^(\d{1,9})(?:[.,](\d{1,2}))?$/.exec(text.trim());
  return found ? Number(found[1]) * 100 + Number((found[2] || "").padEnd(2, "0")) : 0;
}

function tip(base, step) {
  const choice = form.elements.tip?.value || "";
  if (choice === "custom") return cents(form.elements.tip_amount.value);
  return Math.floor((2 * base * Number(choice) + 10000 * step) / (20000 * step)) * step;
}

function tell() {
  const chosen = form.elements.currency.selectedOptions[0];
  const step = Number(chosen.dataset.step);
  const base = cents(amount.value);
  const total = base + tip(base, step);
  const shown = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency: chosen.value }).format(total / 100);
  form.querySelector("[data-total]").textContent = base ? ` ${shown}` : "";
}

form.addEventListener("input", tell);
tell();
