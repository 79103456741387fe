// What changes by itself is looked at again while somebody looks: every 4 seconds at first, every 20 after two minutes.

// Times are shown in this browser's zone to who hasn't chosen one: the server only knows it from here.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`time_zone=${zone};`)) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `time_zone=${zone}; Path=/dashboard; Max-Age=31536000; SameSite=Lax${secure}`;
}

const QUICK = 4000;
const SLOW = 20000;
const began = Date.now();

function look() {
  if (document.visibilityState === "visible") {
    for (const part of document.querySelectorAll("[data-refreshes]")) part.dispatchEvent(new CustomEvent("refresh"));
  }
  if (document.querySelector("[data-refreshes]")) setTimeout(look, Date.now() - began < 120000 ? QUICK : SLOW);
}

setTimeout(look, QUICK);

// On a phone the tab one is on may lie beyond the edge.
for (const tab of document.querySelectorAll(":is(.section-tabs, .tabs, .pills) > [aria-current]")) {
  const tabs = tab.parentElement;
  tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.clientWidth) / 2;
}

// One box for all of its fieldset, shown where a script can check the others.
for (const all of document.querySelectorAll("input[data-selects]")) {
  const boxes = [...all.closest("fieldset").querySelectorAll(`input[name="${all.dataset.selects}"]`)];
  const follow = () => {
    const checked = boxes.filter((box) => box.checked).length;
    all.checked = checked === boxes.length;
    all.indeterminate = checked > 0 && !all.checked;
  };
  all.closest("[hidden]").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
  all.form.addEventListener("change", follow);
  follow();
}

// A color is typed, or chosen from the browser's palette; the sample shows both.
const sample = document.querySelector("[data-brand-sample]");
const light = (color) => {
  const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
for (const palette of document.querySelectorAll("input[data-picks]")) {
  const name = palette.dataset.picks;
  const typed = palette.form.elements[name];
  const follow = () => {
    const color = typed.value || typed.placeholder;
    if (!/^#[0-9a-f]{6}$/i.test(color)) return;
    palette.value = color;
    sample.style.setProperty(`--${name}`, color);
    if (name === "primary_color") sample.style.setProperty("--ink-on", light(color) > 0.18 ? "#000" : "#fff");
  };
  palette.hidden = sample.hidden = false;
  palette.addEventListener("input", () => {
    typed.value = palette.value;
    follow();
  });
  typed.addEventListener("input", follow);
  follow();
}

// A unit follows the number before it: 1 month, 3 months.
for (const unit of document.querySelectorAll("select[data-counts]")) {
  const number = unit.form.elements[unit.dataset.counts];
  number.addEventListener("input", () => {
    for (const option of unit.options) option.textContent = number.value.trim() === "1" ? option.dataset.one : option.dataset.many;
  });
}

// What was fetched into a sheet opens beside the page; its Cancel leads back to what is still there.
document.addEventListener("htmx:after:swap", () => {
  const sheet = document.querySelector("dialog.sheet:not([open]):has(form)");
  if (sheet) sheet.showModal();
});
document.addEventListener("click", (event) => {
  const sheet = event.target.closest?.("dialog.sheet a[data-closes]")?.closest("dialog");
  if (!sheet) return;
  event.preventDefault();
  sheet.close();
});
document.querySelector("dialog.sheet")?.addEventListener("close", (event) => {
  event.target.lastElementChild.replaceChildren();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const search = document.querySelector("[data-search]");
  if (!search) return;
  event.preventDefault();
  search.focus();
});
