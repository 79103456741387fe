// Keeps the page of the point of sale on the device: it opens without a connection, and so does its sale.

const KEPT = "till-1";
const TILL = "/dashboard/point-of-sale";
const PARTS = ["style", "script", "image", "font"];

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function keep(key, answer) {
  const kept = await caches.open(KEPT);
  await kept.put(key, answer);
}

// What the server answers, kept for when it doesn't; a page that led elsewhere (signing in) isn't the till's.
async function fresh(request, key) {
  const answer = await fetch(request);
  if (answer.ok && !answer.redirected) await keep(key, answer.clone());
  return answer;
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (url.pathname === TILL) event.respondWith(fresh(request, TILL).catch(() => caches.match(TILL)));
    else if (url.pathname.startsWith(`${TILL}/`)) event.respondWith(fetch(request).catch(() => caches.match(TILL)));
  } else if (PARTS.includes(request.destination)) {
    event.respondWith(fresh(request, request).catch(async () => (await caches.match(request)) || Response.error()));
  }
});
