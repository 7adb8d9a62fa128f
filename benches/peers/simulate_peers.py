#!/usr/bin/env python3
"""Speed of `whsize simulate` beside Ciw and SimPy on the same queue: M/M/N, first come first served, one core.

    python3 -m venv peers && peers/bin/pip install ciw==3.2.7 simpy==4.1.2
    cargo build --release
    peers/bin/python benches/peers/simulate_peers.py target/release/whsize

Every program simulates the same pools; each gets as many arrivals as it needs to run for some seconds, so what is
compared is arrivals a second of processor time, which other programs on the machine hardly change: the start of the
process included for whsize and left out for the others. The mean waits are printed beside the exact one (Erlang C):
whoever is fast must be right as well. Not part of CI.
"""

import json
import random
import resource
import subprocess
import sys
import time

POOLS = [(10, 0.8), (100, 0.95), (1263, 1260 / 1263)]
# Arrivals for each program and pool, a few seconds each.
ARRIVALS = {"Ciw": 100_000, "SimPy": 200_000, "whsize": 20_000_000}
SEED = 1


def erlang_c_wait(workers, load):
    inverse = 1.0
    for j in range(1, workers + 1):
        inverse = 1.0 + inverse * j / load
    utilisation = load / workers
    waiting = 1.0 / (utilisation + (1.0 - utilisation) * inverse)
    return waiting / (workers - load)


def of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def with_simpy(workers, load, arrivals):
    import simpy

    stream = random.Random(SEED)
    environment = simpy.Environment()
    pool = simpy.Resource(environment, capacity=workers)
    waits = []

    def message():
        arrived = environment.now
        with pool.request() as worker:
            yield worker
            waits.append(environment.now - arrived)
            yield environment.timeout(stream.expovariate(1.0))

    def source():
        for _ in range(arrivals):
            yield environment.timeout(stream.expovariate(load))
            environment.process(message())

    environment.process(source())
    start = time.process_time()
    environment.run()
    return len(waits), time.process_time() - start, sum(waits) / len(waits)


def with_ciw(workers, load, arrivals):
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=load)],
        service_distributions=[ciw.dists.Exponential(rate=1.0)],
        number_of_servers=[workers],
    )
    ciw.seed(SEED)
    simulation = ciw.Simulation(network)
    start = time.process_time()
    simulation.simulate_until_max_customers(arrivals)
    seconds = time.process_time() - start
    waits = [record.waiting_time for record in simulation.get_all_records()]
    return len(waits), seconds, sum(waits) / len(waits)


def with_whsize(binary, workers, load, arrivals):
    command = [binary, "simulate", "--workers", str(workers), "--rate", repr(load), "--mean", "1", "--threads", "1"]
    command += ["--arrivals-count", str(arrivals), "--replications", "1", "--warm-up", "0", "--seed", str(SEED)]
    start = of_children()
    output = subprocess.run(command + ["--format", "json"], capture_output=True, text=True, check=True)
    seconds = of_children() - start
    result = json.loads(output.stdout)["result"]
    return result["arrivals"], seconds, result["wait_mean_s"]


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "target/release/whsize"
    print("| workers | utilisation | program | arrivals a processor second | times slower | mean wait | exact |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for workers, utilisation in POOLS:
        load = workers * utilisation
        exact = erlang_c_wait(workers, load)
        runs = {
            "whsize": with_whsize(binary, workers, load, ARRIVALS["whsize"]),
            "SimPy": with_simpy(workers, load, ARRIVALS["SimPy"]),
            "Ciw": with_ciw(workers, load, ARRIVALS["Ciw"]),
        }
        fastest = runs["whsize"][0] / runs["whsize"][1]
        for name, (arrivals, seconds, wait) in runs.items():
            speed = arrivals / seconds
            ratio = f"{fastest / speed:,.0f}"
            print(f"| {workers} | {utilisation:.4f} | {name} | {speed:,.0f} | {ratio} | {wait:.4f} | {exact:.4f} |", flush=True)


if __name__ == "__main__":
    main()
