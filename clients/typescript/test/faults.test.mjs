// How the client meets a server that fails: each test has a server of its own.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { afterEach, test } from "node:test";
import { Tillgate, TillgateError } from "tillgate";

const servers = [];

/** A server that gives these answers in turn, the last one for ever, and what it was asked. */
async function serving(...answers) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === "hang") return;
    if (answer === "cut") return request.socket.destroy();
    const { status = 200, headers: told = {}, body = {} } = answer;
    response.writeHead(status, { "Content-Type": "application/json", ...told });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  return { asked, client: (options) => new Tillgate({ apiKey: "svc_sk_test_x", baseUrl, ...options }) };
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const ORDER = { amount: "10.00", currency: "EUR" };
const refused = (type, facts = {}) => (error) => {
  assert.ok(error instanceof TillgateError, String(error));
  assert.deepEqual({ type: error.type, ...pick(error, facts) }, { type, ...facts });
  return true;
};
const pick = (value, keys) => Object.fromEntries(Object.keys(keys).map((key) => [key, value[key]]));

test("a call is repeated with the key that it was first sent with", async () => {
  const { client, asked } = await serving("cut", { status: 503 }, { status: 201, body: { id: "one" } });
  assert.deepEqual(await client().payments.create(ORDER), { id: "one" });
  const keys = asked.map((request) => request.headers["idempotency-key"]);
  assert.equal(asked.length, 3);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  assert.deepEqual(new Set(keys).size, 1);
  assert.deepEqual(JSON.parse(asked[2].body), { payment_intent: ORDER });
});

test("another call has another key, and the caller's own is used", async () => {
  const { client, asked } = await serving({ status: 201 });
  await client().payments.create(ORDER);
  await client().payments.create(ORDER);
  await client().payments.create(ORDER, { idempotencyKey: "order-1001" });
  const keys = asked.map((request) => request.headers["idempotency-key"]);
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[2], "order-1001");
});

test("Retry-After is waited for", async () => {
  const { client, asked } = await serving({ status: 429, headers: { "Retry-After": "2" } }, { body: [] });
  const began = Date.now();
  await client().refunds.list("one").page();
  assert.equal(asked.length, 2);
  assert.ok(Date.now() - began >= 2000);
});

test("who is told to wait for minutes is told so", async () => {
  const { client, asked } = await serving({ status: 503, headers: { "Retry-After": "600" } });
  await assert.rejects(client().balances.retrieve(), refused("unavailable", { retryAfterSeconds: 600 }));
  assert.equal(asked.length, 1);
});

test("what takes no key and may have happened isn't repeated", async () => {
  const { client, asked } = await serving({ status: 502 });
  const customer = { email: "ann@example.com", name: "Ann" };
  await assert.rejects(client().customers.create(customer), refused("unavailable", { status: 502 }));
  await assert.rejects(client().customers.delete("one"), refused("unavailable"));
  assert.equal(asked.length, 2);
});

test("a refusal isn't repeated", async () => {
  const { client, asked } = await serving({ status: 422, body: { error: "Payment is not refundable" } });
  await assert.rejects(client().refunds.create("one"), refused("invalid_request", { param: null }));
  assert.equal(asked.length, 1);
});

test("as often as asked for, and no more", async () => {
  const { client, asked } = await serving({ status: 500, body: "<h1>no</h1>" });
  const call = client({ maxRetries: 1 }).balances.retrieve();
  await assert.rejects(call, refused("server", { message: "The server answered 500", body: "<h1>no</h1>" }));
  assert.equal(asked.length, 2);
  await assert.rejects(client().balances.retrieve({ maxRetries: 0 }), refused("server"));
  assert.equal(asked.length, 3);
});

test("an attempt ends in time", async () => {
  const { client, asked } = await serving("hang", { body: { balances: [] } });
  assert.deepEqual(await client({ timeoutMs: 200 }).balances.retrieve(), { balances: [] });
  assert.equal(asked.length, 2);
});

test("a caller's signal ends the call and its retries", async () => {
  const { client, asked } = await serving("hang");
  const signal = AbortSignal.timeout(150);
  await assert.rejects(client().balances.retrieve({ signal }), { name: "TimeoutError" });
  assert.equal(asked.length, 1);
  const { client: other, asked: others } = await serving({ status: 503, headers: { "Retry-After": "30" } });
  await assert.rejects(other().balances.retrieve({ signal: AbortSignal.timeout(150) }), { name: "TimeoutError" });
  assert.equal(others.length, 1);
});

test("a redirect isn't followed", async () => {
  const { client } = await serving({ status: 301, headers: { Location: "/elsewhere" } });
  await assert.rejects(client().payments.create(ORDER), refused("invalid_request", { status: 301 }));
});

test("every shape of a refusal is read", async () => {
  const request = { "X-Request-Id": "abc" };
  const shapes = [
    [{ status: 422, body: { error: "amount must be greater than zero" } }, { param: "amount", code: null }],
    [{ status: 422, body: { error: "line_items[0].quantity is required" } }, { param: "line_items[0].quantity" }],
    [{ status: 422, body: { error: { message: "No route", code: "no_route" } } }, { code: "no_route", param: null }],
    [{ status: 422, body: { errors: ["Url must be https", "Name is too long"] } }, { message: "Url must be https; Name is too long", param: null }],
    [{ status: 422, body: { error: "Unknown field: amount_atomic", nearest: "amount" } }, { param: "amount_atomic", nearest: "amount" }],
    [{ status: 422, body: { error: { message: "Unknown field: x", code: "unknown_field", nearest: "y" } } }, { param: "x", nearest: "y" }],
    [{ status: 422, body: { error: "date_range_too_large", max_days: 366 } }, { code: "date_range_too_large" }],
    [{ status: 400, body: { error: "invalid_grant", error_description: "Unknown code" } }, { code: "invalid_grant", message: "Unknown code" }],
  ];
  for (const [answer, facts] of shapes) {
    const { client } = await serving({ ...answer, headers: request });
    await assert.rejects(client().balances.retrieve(), refused("invalid_request", { ...facts, requestId: "abc" }));
  }
});

test("every status has a type", async () => {
  const types = { 401: "authentication", 403: "permission", 404: "not_found", 409: "conflict", 410: "not_found", 502: "unavailable" };
  for (const [status, type] of Object.entries(types)) {
    const { client } = await serving({ status: Number(status), body: { error: { message: "no", code: null } } });
    await assert.rejects(client({ maxRetries: 0 }).balances.retrieve(), refused(type));
  }
});

test("nobody there is a connection error", async () => {
  const client = new Tillgate({ apiKey: "x", baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
  await assert.rejects(client.balances.retrieve(), refused("connection", { status: null }));
});

test("lists go on over pages of either shape, and what moved on meanwhile comes once", async () => {
  const figures = { page: 1, per_page: 2, total: 4, total_pages: 2 };
  const pages = [
    { data: [{ id: "d" }, { id: "c" }], meta: figures },
    { data: [{ id: "c" }, { id: "b" }], meta: { ...figures, page: 2 } },
  ];
  const { client, asked } = await serving(...pages.map((body) => ({ body })));
  const found = [];
  for await (const payment of client().payments.list({ status: "completed", per_page: 2 })) found.push(payment.id);
  assert.deepEqual(found, ["d", "c", "b"]);
  assert.equal(asked[1].url, "/api/v2/payments?per_page=2&status=completed&page=2");

  const other = await serving(...pages.map(({ data, meta }) => ({ body: { data, pagination: meta } })));
  assert.equal((await other.client().payouts.list().page(1)).totalPages, 2);
  assert.equal((await other.client().swaps.list().toArray({ limit: 1 })).length, 1);
  const bare = await serving({ body: [{ id: "a" }] });
  assert.deepEqual(await bare.client().webhookEndpoints.list().toArray({ limit: 9 }), [{ id: "a" }]);
});

test("an id never becomes another path", async () => {
  const { client, asked } = await serving({});
  await client().payments.retrieve("a/../../b?c");
  assert.equal(asked[0].url, "/api/v2/payments/a%2F..%2F..%2Fb%3Fc");
  for (const id of ["", ".", ".."]) await assert.rejects(client().payments.retrieve(id), TypeError);
});

test("a platform names the account that it acts for", async () => {
  const { client, asked } = await serving({});
  await client({ account: "one" }).balances.retrieve();
  await client({ account: "one" }).balances.retrieve({ account: "other" });
  assert.deepEqual(asked.map((request) => request.headers["x-service-account"]), ["one", "other"]);
});
