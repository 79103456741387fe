"""Names in a request's environment that the web server reads once the request is answered."""

STORE = "tillgate.store"  # whose request it was
