"""The steps that every plain Produce and Fetch takes: recognise the request, look the batch over, put a small
reply together.

In C where that was built (`make setup` does, where there is a compiler), in Python otherwise, with the same
results; `BARNABAS_NATIVE=off` asks for Python. docs/decisions/0012 says why.
"""

import os

try:
    if os.environ.get("BARNABAS_NATIVE") == "off":
        raise ImportError("not wanted")
    from barnabas.hot._native import fetch_offset, gather, offset_behind, plain_batch

    is_native = True
except ImportError:  # built without a compiler
    from barnabas.hot.reference import fetch_offset, gather, offset_behind, plain_batch

    is_native = False

__all__ = ["fetch_offset", "gather", "is_native", "offset_behind", "plain_batch"]
