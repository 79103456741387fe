"""The e-invoices that the product writes, before the rules of those who receive them."""
