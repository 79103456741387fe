"""pip's configuration on this machine in uv's words: uv reads none of pip's files."""


def for_uv(configuration: str) -> dict[str, str]:
    """The environment of uv; `configuration` is what `pip config list` prints."""
    settings: dict[str, str] = {}
    for line in configuration.splitlines():
        key, _, value = line.partition("=")
        # The environment wins over the files, as in pip.
        name = key.rpartition(".")[2].replace("-", "_")
        if key.startswith(":env:") or name not in settings:
            settings[name] = value.strip().strip("'\"").replace("\\n", " ")
    # Hashes decide, not the index.
    env = {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_NO_PROGRESS": "1",
    }
    for pip_name, uv_name in (
        ("index_url", "UV_DEFAULT_INDEX"),
        ("extra_index_url", "UV_INDEX"),
        ("find_links", "UV_FIND_LINKS"),
    ):
        if settings.get(pip_name):
            env[uv_name] = (
                " ".join(settings[pip_name].split())
                if pip_name != "find_links"
                else ",".join(settings[pip_name].split())
            )
    if settings.get("cert"):
        env["SSL_CERT_FILE"] = settings["cert"]
    if settings.get("trusted_host"):
        env["UV_INSECURE_HOST"] = " ".join(settings["trusted_host"].split())
    return env
