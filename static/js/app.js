// What every page shares: copying, printing, dialogs, buttons that work once. Pages work without it.

const root = document.documentElement;
root.classList.add("has-script");

function say(text, tone = "") {
  const toasts = document.querySelector(".toasts");
  if (!toasts) return;
  const toast = document.createElement("div");
  toast.className = `toast ${tone}`.trim();
  toast.textContent = text;
  toasts.append(toast);
  setTimeout(() => toast.remove(), 5000);
}

async function copy(button) {
  const source = button.dataset.copy || document.getElementById(button.dataset.copyFrom)?.textContent.trim() || "";
  try {
    await navigator.clipboard.writeText(source);
  } catch {
    return; // the value itself can be selected by hand
  }
  button.dataset.copied = "";
  say(button.dataset.copiedText || "Copied");
  setTimeout(() => delete button.dataset.copied, 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy], [data-copy-from], [data-print], [data-opens], [data-closes]");
  if (!button) return;
  if ("print" in button.dataset) window.print();
  else if (button.dataset.opens) document.getElementById(button.dataset.opens)?.showModal();
  else if ("closes" in button.dataset) button.closest("dialog")?.close();
  else copy(button);
});

// An amount to be sent that is selected by hand is copied with a point, as wallets take it, whatever mark it is shown with.
document.addEventListener("copy", (event) => {
  const selection = document.getSelection();
  let text = selection.toString();
  for (const amount of document.querySelectorAll("[data-plain]")) {
    const { plain } = amount.dataset;
    if (!plain.includes(".") || !selection.containsNode(amount, true)) continue;
    const shown = amount.textContent.trim().slice(0, plain.length);
    const isWithin = amount.contains(selection.anchorNode) && amount.contains(selection.focusNode);
    text = isWithin ? text.replace(shown[plain.indexOf(".")], ".") : text.replace(shown, plain);
  }
  if (text === selection.toString()) return;
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
});

// A form is sent once: a second press while the answer is on its way does nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent !== undefined && form.method === "post") {
    event.preventDefault();
    return;
  }
  if (form.method !== "post") return;
  form.dataset.sent = "";
  for (const button of form.querySelectorAll("button:not([type=button])")) button.setAttribute("aria-disabled", "true");
  event.submitter?.setAttribute("aria-busy", "true");
});

// A panel closes when what was chosen in it is sent.
document.addEventListener("submit", (event) => {
  for (const panel of event.target.querySelectorAll("details.panel[open]")) panel.open = false;
});

function release(within) {
  for (const form of within.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) {
      button.removeAttribute("aria-disabled");
      button.removeAttribute("aria-busy");
    }
  }
}

window.addEventListener("pageshow", () => release(document));
document.addEventListener("htmx:finally:request", () => release(document));

// Messages of the server that came with a swapped part.
document.addEventListener("toast", (event) => say(event.detail?.text || event.detail?.value || "", event.detail?.tone || ""));

// An open menu closes when the person turns elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details:is(.menu, .panel, .coins)[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details:is(.menu, .panel, .coins)[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
