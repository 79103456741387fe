// The browsable API: Swagger UI reads the description that this server serves. What it leaves without a name or at a
// wrong level is mended here, for those who don't see the page.
const page = document.getElementById("swagger-ui");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

const LEVELS = [
  [".opblock-tag, .models > h4, .models > h4 button, .modal-ux-header h3", "2"],
  [".opblock h4, .modal-ux-content h4", "3"],
  [".opblock h5, .modal-ux-content h5, .modal-ux-content h6", "4"],
];
const NAMES = [
  [".information-container > section", "About"],
  [".scheme-container > section", "Server and authorization"],
  [".webhooks-container > section", "Webhooks"],
  [".wrapper:has(> section > .models) > section", "Schemas"],
  ["#servers", "Server"],
  [".body-param__text", "Request body"],
  [".close-modal", "Close"],
];

function mend() {
  for (const [selector, level] of LEVELS) {
    for (const heading of page.querySelectorAll(selector)) {
      if (heading.matches("h1, h2, h3, h4, h5, h6")) heading.setAttribute("aria-level", level);
    }
  }
  for (const [selector, name] of NAMES) {
    for (const element of page.querySelectorAll(selector)) element.setAttribute("aria-label", name);
  }

  // Parameters stand in a table whose row says which it is.
  for (const field of page.querySelectorAll(".parameters tr :is(input, select, textarea)")) {
    const name = field.closest("tr").dataset.paramName;
    if (name && !field.labels?.length) field.setAttribute("aria-label", name);
  }
  // These say something else than what stands on them.
  for (const button of page.querySelectorAll(".auth-btn-wrapper [aria-label]")) button.removeAttribute("aria-label");
  for (const code of page.querySelectorAll("pre.microlight, .headerline, .request-url pre")) code.tabIndex = 0;
}
new MutationObserver(mend).observe(page, { childList: true, subtree: true });

// A path within the button that opens its operation, without a link of its own: the address follows what is open.
const PlainPath = () => ({
  wrapComponents: {
    DeepLink: (Original, system) => ({ text }) => system.React.createElement("span", { className: "nostyle" }, text),
  },
});

SwaggerUIBundle({
  url: page.dataset.url,
  domNode: page,
  deepLinking: true,
  plugins: [PlainPath],
  // Somebody who is signed in to the dashboard may try a call without a key.
  requestInterceptor: (request) => {
    if (request.credentials === "same-origin" && request.method && request.method !== "GET") {
      request.headers["X-CSRFToken"] = page.dataset.csrfToken;
    }
    return request;
  },
});
