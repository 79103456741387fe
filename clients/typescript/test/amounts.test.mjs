import assert from "node:assert/strict";
import { test } from "node:test";
import { signAmount } from "tillgate";

const order = { amount: "49.00", currency: "EUR", order_id: "A-1001" };

test("a signature is what the service computes", async () => {
  const signature = "2162bf7f12f6bd816ac20ae9920aab256ceebf1d79bee37b16b5841e8457938b";
  assert.equal(await signAmount("svc_sk_test_x", order), signature);
});

test("an amount is signed for an order", async () => {
  await assert.rejects(signAmount("svc_sk_test_x", { ...order, order_id: "" }), TypeError);
});
