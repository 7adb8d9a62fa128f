"""Merges the profiles of a Spark cluster and compares the result with that of one machine; see spark.sh."""

import shlex
import subprocess
import sys
import time

from pyspark.sql import SparkSession

whsize, attempts = sys.argv[1:]
# Attempts whose place in time does not matter: what arrives when is the matter of one reader.
read = [whsize, "ingest", "-", "--no-header", "--column", "4", "--unit", "ms", "--group-by", "2"]
read += ["--allow-empty", "--save", "-"]
merge = [whsize, "ingest", "-", "--save", "-"]

with open(attempts, "rb") as rows:
    single = subprocess.run(read, stdin=rows, stdout=subprocess.PIPE, check=True).stdout.decode()

spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .appName("whsize")
    .config("spark.executor.memory", "1024m")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
context = spark.sparkContext
for _ in range(60):
    # The driver is one of those that report their memory.
    workers = context._jsc.sc().getExecutorMemoryStatus().size() - 1
    if workers == 2:
        break
    time.sleep(1)
assert workers == 2, f"{workers} workers"

# Nine partitions with attempts, dealt out at random, and one without.
rows = context.textFile(attempts, 4).repartition(9).union(context.parallelize([], 1))
profiles = rows.pipe(shlex.join(read), checkCode=True)
assert profiles.count() == 9, "a profile a partition, and none of the empty one"
merged = profiles.coalesce(1).pipe(shlex.join(merge), checkCode=True).collect()
spark.stop()

assert merged == [single.rstrip("\n")], "the merged profile differs from that of one machine"
print(f"{workers} workers, 9 profiles: merged, the {len(single)} bytes of one machine")
