from apps.core.imports import without

with without(
    "yaml", "pygments", "markdown", "requests"
):  # for pages and parsers of the framework that we don't serve
    import rest_framework.compat  # noqa: F401
