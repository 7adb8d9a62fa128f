#!/usr/bin/env bash
# Compares reading a large CSV with duckdb, polars and xan: count, mean, deviation, least, greatest and five quantiles of
# one column (quartiles of xan). In each round the programs run in turn; the best of their rounds counts, with the memory
# that it took. Their answers are compared too: if they differ it fails. Not part of CI.
#
#   benches/ingest_peers/compare.sh FOLDER [ROWS] [ROUNDS]
#
# FOLDER lies outside the repository and keeps what a second run need not do again: duckdb and polars from PyPI, xan from
# crates.io, and the table of ROWS attempts (50,000,000: 1.8 GB). Needs bash, cargo, python3 with venv, and GNU time.
# whsize is built with --release; WHSIZE names another one.
set -euo pipefail
folder="${1:?a folder for the peers and the table, outside the repository}" rows="${2:-50000000}" rounds="${3:-3}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"
cd "$(dirname "$0")/../.."
python="$folder/cache/python/bin/python" xan="$folder/cache/xan/bin/xan" file="$folder/attempts-$rows.csv"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

[ -x "$python" ] || python3 -m venv "$folder/cache/python"
"$python" -c 'import duckdb, polars' 2> "$work/missing" || "$python" -m pip install --quiet duckdb==2.0.1 polars==2.1.0
[ -x "$xan" ] || cargo install xan --locked --version 0.61.0 --root "$folder/cache/xan"
if [ ! -e "$file" ]; then
    python3 benches/ingest_peers/generate.py "$rows" "$work/table.csv"
    mv "$work/table.csv" "$file"
fi
whsize="${WHSIZE:-target/release/whsize}"
[ -n "${WHSIZE:-}" ] || cargo build --release --locked --bin whsize
cat "$file" > /dev/null # in the page cache for all

measure() {
    local name="$1"
    shift
    /usr/bin/time -a -o "$work/$name" -f '%e %U %S %M' "$@" > "$work/$name.out" 2> "$work/$name.err" || {
        cat "$work/$name.err" >&2
        exit 1
    }
}
for round in $(seq "$rounds"); do
    echo "round $round of $rounds, load average $(cut -d' ' -f1-2 /proc/loadavg)" >&2
    measure whsize "$whsize" ingest "$file" --format json
    measure duckdb "$python" benches/ingest_peers/peers.py duckdb "$file"
    measure polars "$python" benches/ingest_peers/peers.py polars "$file"
    measure xan-parallel "$xan" stats --parallel --quartiles --select duration_ms "$file"
    measure xan "$xan" stats --quartiles --select duration_ms "$file"
    measure xan-no-quantiles "$xan" stats --parallel --select duration_ms "$file"
    "$python" benches/ingest_peers/agree.py "$work"
done

version() { "$python" -c "import $1; print('$1', $1.__version__)"; }
declare -A title=(
    [whsize]="$("$whsize" --version)" [duckdb]="$(version duckdb)" [polars]="$(version polars)"
    [xan]="xan $("$xan" --version), one thread" [xan-parallel]="xan $("$xan" --version), parallel"
    [xan-no-quantiles]="xan $("$xan" --version), parallel, without quantiles"
)
echo "$rows rows, $(stat -c %s "$file") bytes, $(nproc) processors ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)), best of $rounds"
ours="$(sort -n "$work/whsize" | head -n 1 | cut -d' ' -f1)"
printf '| program | wall s | processor s | resident MB | times as long as whsize |\n| --- | --- | --- | --- | --- |\n'
for name in whsize duckdb polars xan-parallel xan xan-no-quantiles; do
    sort -n "$work/$name" | head -n 1 | awk -v name="${title[$name]}" -v ours="$ours" \
        '{ printf "| %s | %.2f | %.2f | %.0f | %.1f |\n", name, $1, $2 + $3, $4 / 1024, $1 / ours }'
done
