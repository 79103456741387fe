// The browsable API: Swagger UI reads the description that this server serves.
const page = document.getElementById("swagger-ui");

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
