#!/usr/bin/env python3
"""Writes delivery attempts as CSV: timestamp,endpoint,phase,duration.

    generate.py ROWS FILE

50,000,000 rows take 1.8 GB. Time stamps are milliseconds in order, durations milliseconds with three decimals from a
lognormal body with a timeout tail, drawn from a table so that writing takes minutes and not hours. The same bytes each
time for the same number of rows.
"""

import math
import random
import sys

rows, path = int(sys.argv[1]), sys.argv[2]
draw = random.Random(20260302)
NAMES = ["orders", "billing", "crm", "erp", "search", "ledger", "mail", "sms", "audit", "stock", "hr", "bi"]
ENDPOINTS = [f"{name}-{region}" for name in NAMES for region in ("eu1", "us2")]


def duration() -> float:
    if draw.random() < 0.03:
        return draw.uniform(25_000, 30_000)
    return math.exp(draw.gauss(math.log(120), 0.7))


# A prime number of tails, so that they do not repeat in step with anything.
tails = [f",{draw.choice(ENDPOINTS)},http,{duration():.3f}\n" for _ in range(1_000_003)]
gaps = [draw.choice([0, 0, 0, 0, 1, 1, 1, 2, 2, 4]) for _ in range(999_983)]
at, place, written = 1_772_409_600_000, 0, 0
with open(path, "w", encoding="ascii", buffering=1 << 20) as out:
    out.write("timestamp,endpoint,phase,duration_ms\n")
    while written < rows:
        count = min(100_000, rows - written)
        lines = []
        for number in range(written, written + count):
            at += gaps[number % 999_983]
            lines.append(f"{at}{tails[number % 1_000_003]}")
        out.write("".join(lines))
        written += count
