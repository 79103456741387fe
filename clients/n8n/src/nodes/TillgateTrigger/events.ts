/** What happens in a store. `store.deleted` is told to platforms only. */
export const EVENTS = [
  "payment_intent.created", "payment_intent.processing", "payment_intent.completed", "payment_intent.expired", "payment_intent.failed",
  "payment_intent.refunded", "transaction.confirming", "transaction.confirmed", "transaction.failed", "invoice.finalized", "invoice.paid",
  "invoice.voided", "credit_note.created", "refund.failed", "subscription.created", "subscription.updated", "subscription.past_due",
  "subscription.canceled", "store.verification.approved", "store.verification.rejected", "store.deleted",
];
