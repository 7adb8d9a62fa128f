#!/usr/bin/env bash
# Fuzzes the reading of files, guided by coverage, with LLVM's libFuzzer; works with a stable compiler.
#
#   fuzz/run.sh [SECONDS]
#
# The corpus begins with the first bytes of the fixtures, and stays in fuzz/corpus. An input that fails is left in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus artifacts
for fixture in ../fixtures/*.*; do
    for choice in @ A E F G H I Q; do # found by itself, CSV, HDR log, percentiles, Prometheus, OTLP, profile, CSV by group
        { printf %s "$choice"; head -c 2000 "$fixture"; } > "corpus/$(basename "$fixture")-$choice"
    done
done
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
host="$(rustc -vV | sed -n 's/^host: //p')"
# With a target named, the flags are not those of build scripts and macros.
cargo build --release --locked --target "$host"
exec "${CARGO_TARGET_DIR:-target}/$host/release/ingest" corpus -max_total_time="${1:-60}" -max_len=8192 -artifact_prefix=artifacts/ \
    -rss_limit_mb=256 -malloc_limit_mb=64 -timeout=20 -print_final_stats=1
