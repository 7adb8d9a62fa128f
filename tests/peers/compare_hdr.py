#!/usr/bin/env python3
"""Compares `whsize ingest` with the Java, Python and JavaScript HDR libraries, in both directions.

The same attempts are written as logs by each library, at several resolutions, and read by whsize; and a log that
whsize saved is read by each library. Counts must be the same, means to a rounding of floats, and quantiles the same
number where the resolution is that of whsize (three digits from 1 ns on), else within the bucket that whsize names.

It needs java with hdrhistogram.jar (Debian: libhdrhistogram-java), the Python package hdrhistogram and the npm package
hdr-histogram-js (`npm install` in a folder that NODE_PATH names). Not part of CI. From the project's root:

    cargo build --release
    NODE_PATH=.../node_modules tests/peers/compare_hdr.py [--whsize target/release/whsize] [--jar hdrhistogram.jar]
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
HIGHEST = 3_600_000_000_000
RESOLUTIONS = [(3, 1), (3, 1000), (2, 1), (2, 20_000), (1, 1)]


def attempts(path):
    """Forty intervals of 500 attempts with a timeout tail, every third with a tag."""
    random.seed(20260302)
    with open(path, "w") as out:
        for interval in range(40):
            tag = "-" if interval % 3 else "partner"
            values = [
                int(random.lognormvariate(18.6, 0.6)) if random.random() < 0.96 else int(random.uniform(5e9, 3e10))
                for _ in range(500)
            ]
            out.write(" ".join([tag, *map(str, values)]) + "\n")


def python_write(values, digits, lowest, out):
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogWriter

    with open(out, "w") as log:
        writer = HistogramLogWriter(log)
        writer.output_comment("[Logged by the Python library]")
        writer.output_log_format_version()
        # output_start_time of version 0.10.8 calls a method that datetime does not have.
        writer.output_comment("[StartTime: 1700000000.000 (seconds since epoch)]")
        writer.output_legend()
        for second, line in enumerate(open(values)):
            tag, *recorded = line.split()
            interval = HdrHistogram(lowest, HIGHEST, digits)
            for value in recorded:
                interval.record_value(int(value))
            if tag != "-":
                interval.set_tag(tag)
            writer.output_interval_histogram(interval, second, second + 1, 1e6)


def python_read(log):
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    every = HdrHistogram(1, HIGHEST, 3)
    reader = HistogramLogReader(log, HdrHistogram(1, HIGHEST, 3))
    total = 0.0
    while interval := reader.get_next_interval_histogram():
        total += interval.get_mean_value() * interval.get_total_count()
        every.add(interval)
    quantiles = [every.get_value_at_percentile(percent) for percent in (50, 90, 95, 99, 99.9)]
    return {"count": every.get_total_count(), "sum": total, "quantiles": quantiles, "max": every.get_max_value()}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Comparison:
    def __init__(self):
        self.checks = 0
        self.failures = []

    def hold(self, true, what):
        self.checks += 1
        if not true:
            self.failures.append(what)

    def result(self, name, found, expected, same_numbers):
        """What whsize says of a log beside what a library says of it."""
        self.hold(found["count"] == expected["count"], f"{name}: {found['count']} of {expected['count']} attempts")
        mean = expected["sum"] / expected["count"] / 1e9
        self.hold(abs(found["mean_s"] / mean - 1) < 1e-9, f"{name}: mean {found['mean_s']} for {mean}")
        for row, ns in zip(found["quantiles"], expected["quantiles"]):
            value = row["value_s"] * 1e9
            if same_numbers:
                self.hold(abs(value - ns) < 0.5, f"{name}: p{row['quantile']} {value} for {ns}")
            low, high = row.get("low_s", row["value_s"]) * 1e9, row.get("high_s", row["value_s"]) * 1e9
            self.hold(low * 0.999 - 1 <= ns <= high * 1.001 + 1, f"{name}: p{row['quantile']} {ns} in {low} to {high}")
        if same_numbers:
            self.hold(abs(found["max_s"] * 1e9 - expected["max"]) < 0.5, f"{name}: max {found['max_s']} for {expected['max']}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--whsize", default="target/release/whsize")
    arguments.add_argument("--jar", default="/usr/share/java/hdrhistogram.jar")
    options = arguments.parse_args()
    comparison = Comparison()
    java = ["java", "-cp", options.jar, HERE / "Peer.java"]
    node = ["node", HERE / "peer.js"]

    def whsize(*more):
        return json.loads(run(options.whsize, "ingest", *more, "--format", "json"))["result"]

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        values = folder / "values.txt"
        attempts(values)
        for digits, lowest in RESOLUTIONS:
            logs = {library: folder / f"{library}-{digits}-{lowest}.hlog" for library in ("java", "python", "js")}
            plain, packed, text, doubles = (folder / f"all.{end}" for end in ("hist", "histz", "hgrm", "dlog"))
            single = json.loads(run(*java, "write", values, digits, lowest, logs["java"], plain, packed, text, doubles))
            python_write(values, digits, lowest, logs["python"])
            run(*node, "write", values, digits, lowest, logs["js"])
            expected = json.loads(run(*java, "read", logs["java"]))
            # Read back with three digits from 1 ns on, an interval of any resolution enters at its lower end.
            for library, log in logs.items():
                found = whsize(log)
                comparison.result(f"{library} log, {digits} digits from {lowest}", found, expected, lowest == 1)
                tags = {group["name"]: group["count"] for group in found["groups"]}
                # The Python library's writer leaves tags out.
                written = {} if library == "python" else {"partner": 7000, "(untagged)": 13000}
                comparison.hold(tags == written, f"{library}: tags {tags}")
            for form in (plain, packed):
                name = f"java {form.suffix}, {digits} digits from {lowest}"
                comparison.result(name, whsize(form), single, (digits, lowest) == (3, 1))
            footer = whsize(text)
            comparison.hold(abs(footer["mean_s"] * 1e12 * footer["count"] / single["sum"] / 1e3 - 1) < 1e-4, f"hgrm, {digits} digits: mean")
            refused = subprocess.run([options.whsize, "ingest", str(doubles)], capture_output=True, text=True, check=False)
            comparison.hold(refused.returncode == 2 and "double histogram" in refused.stderr, "double histograms are refused")
        # The way back: the attempts one by one, saved as a log, read by each library.
        table = folder / "attempts.csv"
        lines = [(tag, value) for tag, *row in map(str.split, open(values)) for value in row]
        table.write_text("partner,duration_ns\n" + "".join(f"{tag},{value}\n" for tag, value in lines))
        exact = whsize(table, "--group-by", "partner", "--save", folder / "saved.hlog")
        saved = folder / "saved.hlog"
        for library, found in (
            ("java", json.loads(run(*java, "read", saved))),
            ("python", python_read(str(saved))),
            ("js", json.loads(run(*node, "read", saved))),
        ):
            comparison.hold(found["count"] == exact["count"], f"{library} reads {found['count']} of {exact['count']}")
            mean = found["sum"] / found["count"] / 1e9
            comparison.hold(abs(mean / exact["mean_s"] - 1) < 1e-3, f"{library} reads a mean of {mean}")
            for row, ns in zip(exact["quantiles"], found["quantiles"]):
                comparison.hold(abs(ns / row["value_s"] / 1e9 - 1) < 1e-9, f"{library} reads p{row['quantile']} as {ns}")
    for failure in comparison.failures:
        print(f"DIFFERS  {failure}")
    print(f"{comparison.checks - len(comparison.failures)} of {comparison.checks} comparisons agree")
    sys.exit(bool(comparison.failures))


if __name__ == "__main__":
    main()
