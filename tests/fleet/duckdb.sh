#!/usr/bin/env bash
# Runs the SQL recipe of docs/fleet.md on DuckDB and compares the profile with that of the raw attempts: the service
# times, the groups and the caps must be the same to the last bit. Needs python3 with venv; installs duckdb from PyPI
# into an environment of its own. Not a part of CI.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
whsize=$(realpath "${WHSIZE:-target/release/whsize}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" --quiet install duckdb==2.0.1
gzip -dc fixtures/attempts-week.csv.gz >"$scratch/attempts.csv"

cd "$scratch"
"$whsize" ingest attempts.csv --group-by endpoint --save raw.json --quiet >/dev/null
"$scratch/python/bin/python" -c 'import duckdb, sys; duckdb.sql(open(sys.argv[1]).read())' \
    "$root/docs/examples/fleet-duckdb.sql" |
    "$whsize" ingest - --column value --unit ms --count-column count --group-by endpoint --save counted.json --quiet
"$scratch/python/bin/python" - <<'PY'
import json
raw, counted = (json.load(open(name)) for name in ("raw.json", "counted.json"))
for part in ("all", "groups", "caps"):
    assert raw[part] == counted[part], f"{part} differ"
print(f"{raw['all']['count']} attempts: the same profile from SQL as from the rows")
PY
