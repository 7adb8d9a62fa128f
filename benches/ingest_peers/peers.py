#!/usr/bin/env python3
"""One column's count, mean, deviation, least, greatest and quantiles, by duckdb or polars.

    peers.py duckdb|polars FILE
"""

import sys

which, file = sys.argv[1:]
QUANTILES = [0.5, 0.9, 0.95, 0.99, 0.999]
if which == "duckdb":
    import duckdb

    print(
        duckdb.sql(
            "select count(*), avg(duration_ms), stddev_pop(duration_ms), min(duration_ms), max(duration_ms), "
            f"quantile_disc(duration_ms, {QUANTILES}) from read_csv('{file}')"
        ).fetchall()
    )
else:
    import polars

    duration = polars.col("duration_ms")
    figures = [duration.count(), duration.mean(), duration.std(ddof=0), duration.min(), duration.max()]
    figures += [duration.quantile(quantile, interpolation="equiprobable") for quantile in QUANTILES]
    named = [figure.alias(str(number)) for number, figure in enumerate(figures)]
    print(polars.scan_csv(file).select(named).collect(engine="streaming").row(0))
