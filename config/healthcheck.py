"""Asks the web process beside it whether it can answer requests: exit 0 or 1. Standard library
only, for a container's health check."""

import os
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

ADDRESS = "http://127.0.0.1:8000/readyz/web"


def main() -> int:
    # As the reverse proxy would ask: the public host name, over TLS.
    headers = {
        "Host": urlsplit(os.environ.get("PUBLIC_URL", "")).netloc or "localhost",
        "X-Forwarded-Proto": "https",
    }
    try:
        with urllib.request.urlopen(urllib.request.Request(ADDRESS, headers=headers), timeout=5):
            return 0
    except urllib.error.HTTPError as error:
        print(error.read(2000).decode(errors="replace"), file=sys.stderr)
    except OSError as error:
        print(error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
