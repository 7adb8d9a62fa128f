#!/usr/bin/env bash
# How long `whsize check` takes for a plan of 200 pools, each with a saved profile of its own.
# Builds the release binary, writes profiles and plan to a folder that it removes, and prints the times of five runs.
# Fails if a run does not answer every requirement, or if the best of them takes a second or more.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet
whsize=$PWD/target/release/whsize
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for pool in $(seq 200); do
    # A thousand attempts: most take a tenth of a second, one in thirty runs into a timeout; no two pools are alike.
    awk -v pool="$pool" 'BEGIN {
        print "timestamp,duration_ms"
        for (i = 0; i < 1000; i++)
            print 1772323200 + i "," ((i * 7 + pool) % 30 == 0 ? 20000 + pool : 80 + (i * 37 + pool * 11) % 150)
    }' > "$folder/attempts.csv"
    "$whsize" ingest "$folder/attempts.csv" --save "$folder/pool-$pool.json" --quiet > "$folder/ingested"
    cat >> "$folder/whsize.toml" << POOL
[pool.pool-$pool]
rate = $((pool * 5))
profile = "pool-$pool.json"
wait = "500ms"
workers_deployed = $((pool * 8 + 50))
require = ["workers_deployed >= workers", "utilisation <= 95%", "wait_p95 <= 5s", "layout fits", "sample count enough"]
[pool.pool-$pool.recovery]
backlog = "10k"
within = "1h"
POOL
done
limit_ms=1000
best_ms=
for run in 1 2 3 4 5; do
    start=$(date +%s%N)
    code=0
    "$whsize" check "$folder/whsize.toml" --only passed > "$folder/answer" || code=$?
    took_ms=$((($(date +%s%N) - start) / 1000000))
    # Some pools fail on purpose, which is exit code 1; anything else is no answer.
    if [ "$code" -gt 1 ]; then
        echo "run $run: exit code $code" >&2
        exit 1
    fi
    echo "run $run: $(cat "$folder/answer") requirements met, $took_ms ms"
    if [ -z "$best_ms" ] || [ "$took_ms" -lt "$best_ms" ]; then best_ms=$took_ms; fi
done
if [ "$best_ms" -ge "$limit_ms" ]; then
    echo "the best of five runs took $best_ms ms; $limit_ms ms are the limit" >&2
    exit 1
fi
