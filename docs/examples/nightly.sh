#!/bin/sh
# The gate of every night: nightly.sh ATTEMPTS…, in the folder of whsize.toml, whose pool has profile = "attempts.json".
set -eu
# What was measured that day, as the dispatcher logs it.
whsize ingest "$@" --save attempts.json --quiet > ingested.txt
# The first night has nothing to compare with, and becomes what the others are compared with.
if [ -e baseline.json ]; then
    exec whsize check whsize.toml --baseline baseline.json
fi
whsize check whsize.toml
# Exit code 1 is an answer as well, for a plan of which something does not hold that the gate does not require.
whsize plan whsize.toml --format json > baseline.json.new || [ $? -eq 1 ]
mv baseline.json.new baseline.json
