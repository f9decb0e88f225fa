"""A partition's files as Apache Kafka 4.3.1 wrote them, zlib and base64.

Topic with index.interval.bytes=100: nine idempotent batches whose timestamps go up and down, then three
transactions of one record each: aborted, committed, aborted. The roll at offset 19 falls into the first one.
"""

from __future__ import annotations

import base64
import zlib

FIRST_TIMESTAMP = 1_763_200_000_000

_ENCODED = {
    "00000000000000000000.log": (
        "eNpVkjFLw0AUxy+XMyXSkiIZdJGCDp0kjU2bBmfdhPYzuImbdOvq5KCrOIujowpuilO/g4NDnfoVzL3m7v/eg3f/45"
        "H3434QpXyd2EOf38VvbhI83Kx+WFJN/EKQ1oe5zMw886O6z4hztH49dSPa32oyEhy7oDecgeWkSmu6DhwyrHtGyL3F"
        "7zONdIMKgWZIuxBukDmQuUWmyhi65o4eefHl7qIvxGMko0cQP2biLS+uv28/hbjjbAtOC+JDvHLIxGMv/r6cjoS4Sy"
        "OQMcQLIAuIF0y87cU/qqcrIZ4iGb0N8RET73jx+/nhixBPmuwKTgfiY7xyzMQTL37w1bsQ4vtN9gQygXgJZAnxkonv"
        "1F0Rc6L+HlWXifeRVBV+dftZYK4z9Q+A8W18"
    ),
    "00000000000000000000.index": ("eNpjYGBgZWBgmA3EHAwMjI5AmgdIfwLSggwMTL0AHu0Cig=="),
    "00000000000000000000.timeindex": ("eNpjYGCc1fbiARsDAwMTA4TNBWRzQNkiQDYPlK0AZAtC2RpAthAA01gPMw=="),
    "00000000000000000019.log": (
        "eNpjYAADYSB2AjGYZrZcb2UwgIgyLrx30FwRQYOBFQPDfyAASSsACQ6QGA8DChCBKAOa9r5GRJVBAGrarLYXDzQRNM"
        "w0kBQIg5QxspQYwkwRhbupzLDKBMVN1ggal5sY0dwkBnfTBNEUeRQ3aSFoJDcxIbnJCGaKONxNFbP2PUVxkwuCJhhO"
        "AERpNzc="
    ),
    "00000000000000000019.txnindex": ("eNpjYIACKygtBKWFobQIA7oKMSgtDqUlAB8sAPM="),
    "00000000000000000019.snapshot": (
        "eNpjYMw2mNjGwMDAxAABlmBSEMoThMgwzmp78UDhPxKAylsxIAMhCAVWrYGkSggAViYYew=="
    ),
}

FILES = {name: zlib.decompress(base64.b64decode(text)) for name, text in _ENCODED.items()}
