#!/usr/bin/env python3
"""Whether the programs of compare.sh gave the same answers; exits 1 if not, and says where.

    agree.py FOLDER

FOLDER holds NAME.out of each program. Counts, least and greatest are compared exactly; means and deviations to nine
digits, as sums of floats differ beyond; quantiles within 0.1%, which is what whsize promises. xan prints quartiles alone,
and its median lies between two attempts where there is an even number of them.
"""

import ast
import csv
import json
import sys
from decimal import Decimal
from pathlib import Path

folder = Path(sys.argv[1])
QUANTILES = [0.5, 0.9, 0.95, 0.99, 0.999]
FLOATS, QUANTILE = Decimal("1e-9"), Decimal("1e-3")


def whsize(text):
    """Seconds become milliseconds, as in the table."""
    result = json.loads(text, parse_float=Decimal, parse_int=Decimal)["result"]
    found = {name: result[f"{name}_s"] * 1000 for name in ("mean", "stddev", "min", "max")}
    quantiles = {quantile["quantile"]: quantile["value_s"] * 1000 for quantile in result["quantiles"]}
    return {"count": result["count"], **found, **{q: quantiles[Decimal(str(q))] for q in QUANTILES}}


def rows(text):
    """duckdb prints a list of one row with a list in it, polars a row."""
    row = ast.literal_eval(text)
    row = row[0] if isinstance(row, list) else row
    flat = [value for part in row for value in (part if isinstance(part, list) else [part])]
    names = ["count", "mean", "stddev", "min", "max", *QUANTILES]
    return dict(zip(names, (Decimal(str(value)) for value in flat), strict=True))


def xan(text):
    row = next(csv.DictReader(text.splitlines()))
    names = {name: name for name in ("count", "mean", "stddev", "min", "max")}
    if row.get("median"):
        names[0.5] = "median"
    return {name: Decimal(row[column]) for name, column in names.items()}


READERS = {"whsize": whsize, "duckdb": rows, "polars": rows, "xan": xan, "xan-parallel": xan, "xan-no-quantiles": xan}
answers = {name: read((folder / f"{name}.out").read_text()) for name, read in READERS.items()}
exact = answers.pop("duckdb")
wrong, compared = 0, 0
for name, answer in answers.items():
    for figure, value in answer.items():
        allowed = 0 if figure in ("count", "min", "max") else FLOATS if isinstance(figure, str) else QUANTILE
        compared += 1
        if abs(value - exact[figure]) > allowed * abs(exact[figure]):
            wrong += 1
            print(f"{name}: {figure} is {value}, and duckdb has {exact[figure]}", file=sys.stderr)
print(f"{compared - wrong} of {compared} figures are those of duckdb")
sys.exit(wrong > 0)
