// Tells the page that frames a checkout what happens in it.

const part = () => document.getElementById("checkout");

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

document.addEventListener("htmx:after:swap", tell);
