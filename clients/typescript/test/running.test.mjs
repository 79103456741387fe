// The client and a running Tillgate, whose address and test key are in the environment.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Tillgate, TillgateError, VERSION, verifyWebhook } from "tillgate";

const { TILLGATE_URL: baseUrl, TILLGATE_KEY: apiKey } = process.env;
const tillgate = new Tillgate({ apiKey, baseUrl });
const ORDER = { amount: "10.00", currency: "EUR", title: "One coffee", order_id: "A-1001" };
const heard = [];
let server;
let endpoint;

before(async () => {
  server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const header = request.headers["service-signature"];
    heard.push(await verifyWebhook(Buffer.concat(chunks), header, endpoint.signing_secret));
    response.writeHead(200).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/hook`;
  const events = ["payment_intent.completed", "payment_intent.refunded"];
  endpoint = await tillgate.webhookEndpoints.create({ url, subscribed_events: events });
});

after(async () => {
  await tillgate.webhookEndpoints.delete(endpoint.id);
  server.closeAllConnections();
  server.close();
});

async function until(read, seconds = 30) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await read();
    if (found) return found;
    assert.ok(Date.now() < deadline, "nothing came of it in time");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

test("the version is the package's", () => {
  const file = new URL("../package.json", import.meta.resolve("tillgate"));
  assert.equal(VERSION, JSON.parse(readFileSync(file, "utf8")).version);
});

test("a payment is made, paid, told by webhook, and refunded", async () => {
  const options = { idempotencyKey: randomUUID() };
  const payment = await tillgate.payments.create(ORDER, options);
  assert.equal((await tillgate.payments.create(ORDER, options)).id, payment.id);
  assert.equal((await tillgate.checkout.retrieve(payment.reference)).status, "pending");

  const paid = await tillgate.payments.simulate(payment.id, { scenario: "exact" });
  assert.equal(paid.status, "completed");
  const told = (type) => until(() => heard.find((event) => event.type === type && event.data.object.reference === payment.reference));
  assert.equal((await told("payment_intent.completed")).data.object.order_id, "A-1001");

  const detail = await tillgate.payments.retrieve(payment.id);
  assert.equal(detail.financials.gross_amount, "10.00");
  const asset = detail.financials.assets[0];
  const amount = (Number(asset.gross_atomic) / 10 ** asset.atomic_decimals / 2).toFixed(8);
  const to = "0x52908400098527886E0F7030069857D2E4169EE7";
  const [refund] = await tillgate.refunds.create(payment.id, { amount, destination_address: to });
  assert.equal((await tillgate.refunds.list(payment.id).toArray({ limit: 5 }))[0].id, refund.id);
  await told("payment_intent.refunded");
  const kinds = (await tillgate.payments.events(payment.id).toArray({ limit: 50 })).map((event) => event.event_type);
  assert.ok(kinds.includes("payment_intent.completed"));
  assert.ok(Buffer.from(await tillgate.payments.invoice(payment.id)).subarray(0, 5).equals(Buffer.from("%PDF-")));
});

test("lists are walked over their pages, newest first", async () => {
  const order = randomUUID();
  const made = [];
  for (let index = 0; index < 3; index += 1) made.push((await tillgate.payments.create({ ...ORDER, order_id: order })).id);
  const found = [];
  for await (const payment of tillgate.payments.list({ order_id: order, per_page: 1 })) found.push(payment.id);
  assert.deepEqual(found, made.reverse());
  assert.equal((await tillgate.payments.list({ order_id: order, per_page: 2 }).page(2)).data.length, 1);
});

test("a customer is billed", async () => {
  const customer = await tillgate.customers.create({ email: `${randomUUID()}@example.com`, name: "Ann" });
  const product = await tillgate.products.create({ name: "Beans" });
  const terms = { unit_amount_cents: 1500, currency: "EUR", interval: "monthly" };
  const price = await tillgate.prices.create(product.id, terms);
  const subscription = await tillgate.subscriptions.create({ customer_id: customer.id, price_id: price.id });
  assert.equal(subscription.status, "active");
  const [invoice] = await tillgate.invoices.list({ subscription_id: subscription.id }).toArray({ limit: 1 });
  assert.equal(invoice.total_cents, 1500);
  assert.equal((await tillgate.subscriptions.cancel(subscription.id)).status, "canceled");
  const changed = await tillgate.customers.update(customer.id, { name: "Ann B." });
  assert.equal(changed.name, "Ann B.");
});

test("endpoints are read, changed and tried", async () => {
  const changed = await tillgate.webhookEndpoints.update(endpoint.id, { description: "tests" });
  assert.equal(changed.description, "tests");
  const { delivery_id: id } = await tillgate.webhookEndpoints.sendTest(endpoint.id);
  const delivery = await until(async () => {
    const { recent_deliveries: recent } = await tillgate.webhookEndpoints.retrieve(endpoint.id);
    return recent.find((one) => one.id === id && one.status === "delivered");
  });
  assert.equal(delivery.test, true);
});

test("money moves out", async () => {
  const balances = await tillgate.balances.retrieve();
  assert.ok(balances.balances.length > 0);
  const fields = { asset_id: "SETH", amount_atomic: "1000000000000000" };
  const to = { destination_address: "0x52908400098527886E0F7030069857D2E4169EE7" };
  const payout = await tillgate.payouts.create({ ...fields, ...to });
  assert.equal((await tillgate.payouts.retrieve(payout.id)).amount_atomic, fields.amount_atomic);
  assert.ok((await tillgate.payouts.list().page(1)).total >= 1);
});

test("refusals are typed", async () => {
  const is = (facts) => (error) => error instanceof TillgateError && Object.entries(facts).every(([name, value]) => error[name] === value);
  const wrong = tillgate.payments.create({ ...ORDER, amount: "0" });
  await assert.rejects(wrong, is({ type: "invalid_request", status: 422, param: "amount" }));
  await assert.rejects(tillgate.payments.retrieve(randomUUID()), is({ type: "not_found", code: null }));
  const stranger = new Tillgate({ apiKey: "svc_sk_test_nobody", baseUrl });
  await assert.rejects(stranger.balances.retrieve(), is({ type: "authentication", status: 401 }));
  await assert.rejects(tillgate.agent.context(), is({ type: "authentication", code: "agent_credential_required" }));
  await assert.rejects(tillgate.platform.overview(), (error) => error.type === "permission" && error.requestId !== null);
});

test("any operation can be called by its name", async () => {
  const clock = await tillgate.call("get_test_clock");
  assert.ok("offset_seconds" in clock);
});
