#!/usr/bin/env bash
# Compares reading a large CSV with duckdb, polars and xan: count, mean, deviation, least, greatest and five quantiles of
# one column. Best of several rounds, in turn, with the most memory that was resident. Not part of CI.
#
#   benches/ingest_peers/compare.sh [ROWS] [ROUNDS]
#
# Needs GNU time, a whsize built with --release, and the peers: a Python in PEERS_PYTHON with duckdb and polars from PyPI,
# and xan in XAN (cargo install xan --locked --root FOLDER). The file goes to FILE and is removed if it was made here.
set -euo pipefail
cd "$(dirname "$0")/../.."
rows="${1:-50000000}" rounds="${2:-3}"
whsize="${WHSIZE:-target/release/whsize}" python="${PEERS_PYTHON:-python3}" xan="${XAN:-xan}"
file="${FILE:-/tmp/whsize-ingest-peers.csv}"
work="$(mktemp -d)"
trap 'rm -rf "$work"; [ -n "${made:-}" ] && rm -f "$file"' EXIT
if [ ! -e "$file" ]; then made=yes; python3 benches/ingest_peers/generate.py "$rows" "$file"; fi
cat "$file" > /dev/null # in the page cache for all

measure() {
    local name="$1"
    shift
    /usr/bin/time -a -o "$work/$name" -f '%e %U %S %M' "$@" > "$work/$name.out" 2> "$work/$name.err" || {
        cat "$work/$name.err" >&2
        exit 1
    }
}
for _ in $(seq "$rounds"); do
    measure whsize "$whsize" ingest "$file" --format json
    measure duckdb "$python" benches/ingest_peers/peers.py duckdb "$file"
    measure polars "$python" benches/ingest_peers/peers.py polars "$file"
    measure xan-parallel "$xan" stats --parallel --quartiles --select duration_ms "$file"
    measure xan "$xan" stats --quartiles --select duration_ms "$file"
    measure xan-no-quantiles "$xan" stats --parallel --select duration_ms "$file"
done
ls -l "$file" | awk '{ printf "%s bytes, ", $5 }'
echo "$rows rows, $(nproc) processors, best of $rounds; load average $(cut -d' ' -f1 /proc/loadavg)"
ours="$(sort -n "$work/whsize" | head -n 1 | cut -d' ' -f1)"
printf '| program | wall s | processor s | resident MB | times as long as whsize |\n| --- | --- | --- | --- | --- |\n'
for name in whsize duckdb polars xan-parallel xan xan-no-quantiles; do
    sort -n "$work/$name" | head -n 1 | awk -v name="$name" -v ours="$ours" \
        '{ printf "| %s | %.2f | %.2f | %.0f | %.1f |\n", name, $1, $2 + $3, $4 / 1024, $1 / ours }'
done
