// The browsable API: Swagger UI reads the description that this server serves.
const page = document.getElementById("swagger-ui");
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
follow();
dark.addEventListener("change", follow);

SwaggerUIBundle({
  url: page.dataset.url,
  domNode: page,
  deepLinking: true,
  // Somebody who is signed in to the dashboard may try a call without a key.
  requestInterceptor: (request) => {
    if (request.credentials === "same-origin" && request.method && request.method !== "GET") {
      request.headers["X-CSRFToken"] = page.dataset.csrfToken;
    }
    return request;
  },
});
