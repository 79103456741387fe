"""The library `requests` without its guesses at the encoding of texts, which are two megabytes: all
that is read here is bytes or JSON."""

import warnings

from apps.core.imports import without

with without("charset_normalizer", "chardet"), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says that it can't guess
    import requests

__all__ = ["requests"]
