#!/usr/bin/env bash
# Measures on an Apache Spark cluster and compares with one machine: each partition goes through `whsize ingest` by
# rdd.pipe, the profiles merge in one more stage, and the result must be the single profile to the last byte. Two workers
# with a core and a gibibyte each are started on this machine (local-cluster). Needs Java 17 and python3 with venv;
# installs pyspark from PyPI into an environment of its own. Not a part of CI, for its size.
#
#   tests/fleet/spark.sh [ENVIRONMENT]    the environment is made if it is not there, and kept
set -euo pipefail
cd "$(dirname "$0")/../.."
whsize=$(realpath "${WHSIZE:-target/release/whsize}")
environment=${1:-target/fleet-spark}
[ -d "$environment" ] || python3 -m venv "$environment"
"$environment/bin/pip" --quiet install pyspark==3.5.3
export PYSPARK_PYTHON
PYSPARK_PYTHON=$(realpath "$environment")/bin/python
SPARK_HOME=$("$PYSPARK_PYTHON" -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')
# A cluster whose workers are processes of their own asks for these where Spark comes as a package.
export SPARK_HOME SPARK_SCALA_VERSION=2.12 SPARK_LOCAL_IP=127.0.0.1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gzip -dc fixtures/attempts-week.csv.gz | tail -n +2 >"$scratch/attempts.csv"
SPARK_WORKER_DIR="$scratch/work" "$PYSPARK_PYTHON" tests/fleet/spark.py "$whsize" "$scratch/attempts.csv"
