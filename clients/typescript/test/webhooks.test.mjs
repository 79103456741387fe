// Signatures: the service's own, and what two independent libraries make of the same secret and body.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { WebhookVerificationError, verifyWebhook } from "tillgate";

const require = createRequire(`${process.env.TILLGATE_TOOLS}/`);
const Stripe = require("stripe");
const { Webhook } = require("standardwebhooks");

// [{secret, body, headers}] as the service signed them just now.
const VECTORS = JSON.parse(readFileSync(process.env.TILLGATE_VECTORS, "utf8"));
const stripe = new Stripe("sk_unused");
const signed = (payload, secret, timestamp) => stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
const now = () => Math.floor(Date.now() / 1000);
const SECRET = `whsec_${"ab".repeat(32)}`;
const BODY = JSON.stringify({ id: "e", type: "payment_intent.completed", data: { object: { id: "K2J9ÄÖ☕" } } });

test("what the service signs is verified, as text and as bytes, here and by both libraries", async () => {
  assert.ok(VECTORS.length >= 3);
  for (const { secret, body, headers } of VECTORS) {
    const event = await verifyWebhook(body, headers["Service-Signature"], secret);
    assert.deepEqual(event, JSON.parse(body));
    assert.deepEqual(await verifyWebhook(Buffer.from(body), headers["Service-Signature"], secret), event);
    assert.equal(stripe.webhooks.constructEvent(body, headers["Service-Signature"], secret).id, event.id);
    new Webhook(secret).verify(body, headers);
  }
});

test("what Stripe's library signs is verified", async () => {
  assert.equal((await verifyWebhook(BODY, signed(BODY, SECRET, now()), SECRET)).id, "e");
});

test("one right signature among several is enough", async () => {
  const [time, signature] = signed(BODY, SECRET, now()).split(",");
  const header = `${time},v1=${"0".repeat(64)},${signature},v0=abc`;
  assert.equal((await verifyWebhook(BODY, header, SECRET)).id, "e");
});

test("what isn't genuine is refused", async () => {
  const header = signed(BODY, SECRET, now());
  const [time, signature] = header.split(",");
  const other = signed(BODY, `${SECRET}0`, now());
  const wrong = [
    [BODY.replace("K2J9", "K2J8"), header],
    [BODY, other],
    [BODY, `${time},v1=${"0".repeat(64)}`],
    [BODY, `${time},v1=${signature.slice(3, -2)}`],
    [BODY, `${time},v1=${signature.slice(3)}00`],
    [BODY, `${time},v1=zz`],
    [BODY, `${time},v1=`],
    [BODY, time],
    [BODY, signature],
    [BODY, `t=${now() - 1},${signature}`],
    [BODY, `t=,${signature}`],
    [BODY, `t=1e9,${signature}`],
    [BODY, ""],
    [BODY, null],
    [BODY, undefined],
  ];
  for (const [payload, given] of wrong) {
    await assert.rejects(verifyWebhook(payload, given, SECRET), WebhookVerificationError, String(given));
  }
});

test("what is too old, or from the future, is refused", async () => {
  for (const away of [-301, 302]) {
    const header = signed(BODY, SECRET, now() + away);
    await assert.rejects(verifyWebhook(BODY, header, SECRET), WebhookVerificationError);
    assert.equal((await verifyWebhook(BODY, header, SECRET, 400)).id, "e");
  }
});

test("an empty secret verifies nothing", async () => {
  await assert.rejects(verifyWebhook(BODY, signed(BODY, "x", now()), ""), TypeError);
});

test("the body may be text or bytes of any kind, the header a list as Node has it", async () => {
  const header = signed(BODY, SECRET, now());
  const bytes = new TextEncoder().encode(BODY);
  const longer = new Uint8Array([1, ...bytes, 2]);
  const kinds = [BODY, bytes, Buffer.from(bytes), bytes.buffer, longer.subarray(1, -1), new DataView(bytes.buffer)];
  for (const body of kinds) assert.equal((await verifyWebhook(body, header, SECRET)).id, "e");
  assert.equal((await verifyWebhook(BODY, [header], SECRET)).id, "e");
});

test("a call that can never verify anything says in one sentence what is wrong", async () => {
  const header = signed(BODY, SECRET, now());
  const raw = /raw body/;
  const mistakes = [
    [[undefined, header, SECRET], raw],
    [[null, header, SECRET], raw],
    [[JSON.parse(BODY), header, SECRET], /not the parsed one/],
    [[[1, 2], header, SECRET], /not the parsed one/],
    [[5, header, SECRET], raw],
    [[BODY, header, undefined], /secret is missing/],
    [[BODY, header, null], /secret is missing/],
    [[BODY, header, ""], /secret is missing/],
  ];
  for (const [given, said] of mistakes) {
    await assert.rejects(verifyWebhook(...given), (error) => error instanceof TypeError && said.test(error.message));
  }
  await assert.rejects(verifyWebhook(BODY, {}, SECRET), WebhookVerificationError);
});
