// The documentation: one choice of language for all code, a page copied as Markdown, a test key of one's own, search while typing.

const LANGUAGE = "docs-language";
const KEY = "docs-key";

function keep(store, name, value) {
  try {
    store.setItem(name, value);
  } catch {
    // storage is off: the choice holds for this page
  }
}

function kept(store, name) {
  try {
    return store.getItem(name);
  } catch {
    return null;
  }
}

function choose(language) {
  for (const input of document.querySelectorAll(".code-tabs > input")) {
    if (input.value === language) input.checked = true;
  }
}

document.addEventListener("change", (event) => {
  if (!event.target.matches?.(".code-tabs > input")) return;
  keep(localStorage, LANGUAGE, event.target.value);
  const before = event.target.getBoundingClientRect().top;
  choose(event.target.value);
  window.scrollBy(0, event.target.getBoundingClientRect().top - before); // other samples change their height
});
const language = kept(localStorage, LANGUAGE);
if (language) choose(language);

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-markdown]");
  if (!button) return;
  const answer = await fetch(button.dataset.markdown);
  if (!answer.ok) return;
  await navigator.clipboard.writeText(await answer.text());
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy as Markdown"), 2000);
});

// A test key that the reader types in stays in this tab, and is only ever put into the samples.
function fill(key) {
  for (const place of document.querySelectorAll("[data-key]")) {
    place.textContent = key || "svc_sk_test_YOUR_KEY";
    place.dataset.key = key ? "own" : "";
  }
}

const field = document.getElementById("docs-key");
const key = kept(sessionStorage, KEY) || "";
if (key) fill(key);
if (field) {
  field.value = key;
  field.addEventListener("input", () => {
    const typed = field.value.trim();
    const isTest = /^svc_[sp]k_test_[A-Za-z0-9_-]+$/.test(typed);
    field.setCustomValidity(typed && !isTest ? "Paste a test key: svc_sk_test_…" : "");
    field.reportValidity();
    if (typed && !isTest) return;
    keep(sessionStorage, KEY, typed);
    fill(typed);
  });
}

// Search: the index is fetched once, when somebody begins to type. Without it the form leads to a page of results.
const form = document.querySelector(".docs-search");
const hits = form?.querySelector(".docs-hits");
let index;

async function load() {
  index ??= fetch(form.dataset.index).then((answer) => (answer.ok ? answer.json() : []));
  return index;
}

// An apostrophe is typed straight, and shown as a curly one.
const plain = (text) => text.toLowerCase().replaceAll("’", "'");

// Every word somewhere on the page, and one in the part; best where the part has them all, and its title the most.
function search(entries, words) {
  const parts = entries.map((entry) => [entry, plain(entry[1]), plain(`${entry[1]} ${entry[2]} ${entry[3]}`)]);
  const pages = {};
  const pageOf = (entry) => entry[0].split("#")[0];
  for (const [entry, , text] of parts) pages[pageOf(entry)] = `${pages[pageOf(entry)] ?? ""}${text} `;
  const found = [];
  for (const [entry, name, text] of parts) {
    const count = words.filter((word) => text.includes(word)).length;
    if (!count || !words.every((word) => pages[pageOf(entry)].includes(word))) continue;
    const named = words.filter((word) => name.includes(word)).length;
    found.push([count * 100 + named * 2 + (name.startsWith(words[0]) ? 1 : 0), entry]);
  }
  return found.sort((one, other) => other[0] - one[0]).map(([, entry]) => entry);
}

function show(found, query) {
  hits.replaceChildren();
  for (const [address, title, place] of found) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = title;
    const where = document.createElement("small");
    where.textContent = place;
    link.append(where);
    hits.append(link);
  }
  if (!found.length) {
    const none = document.createElement("p");
    none.textContent = `Nothing found for “${query}”.`;
    hits.append(none);
  }
  hits.hidden = false;
}

form?.addEventListener("input", async (event) => {
  const query = event.target.value.trim();
  const words = plain(query).split(/\s+/).filter(Boolean);
  if (!words.length) {
    hits.hidden = true;
    return;
  }
  const entries = await load();
  if (event.target.value.trim() !== query) return;
  show(search(entries, words).slice(0, 10), query);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && hits) hits.hidden = true;
  if (event.key === "ArrowDown" && form?.contains(document.activeElement) && !hits.hidden) {
    event.preventDefault();
    const links = [...hits.querySelectorAll("a")];
    links[(links.indexOf(document.activeElement) + 1) % links.length]?.focus();
  }
});

document.addEventListener("click", (event) => {
  if (hits && !form.contains(event.target)) hits.hidden = true;
});
