"""Paths by their site: the API, the dashboard or the staff site; the rest is for customers."""

# THE table of homes, the first that fits: what a path begins with, and the settings that name its
# hosts. All else is for customers.
HOMES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("/static/", "/healthz", "/readyz", "/metrics", "/.well-known/"),
        ("API_HOST", "DASHBOARD_HOST", "ADMIN_HOST", ""),
    ),
    (("/admin",), ("ADMIN_HOST",)),
    # Staff sign in where their site is: a session never leaves its host.
    (
        ("/dashboard/sign-in", "/dashboard/sign-out", "/dashboard/confirm", "/dashboard/security"),
        ("DASHBOARD_HOST", "ADMIN_HOST"),
    ),
    (("/dashboard", "/oauth/authorize"), ("DASHBOARD_HOST",)),
    (("/api", "/docs", "/llms.txt", "/oauth/", "/mcp", "/compat/"), ("API_HOST",)),
)
