#!/usr/bin/env bash
# Reads a million damaged inputs with each parser, with overflow checks and assertions on; CI runs a few hundred of each.
#
#   tests/mutate.sh [INPUTS] [SEED] [PARSER]
#
# Each of the 50 parsers has read a million inputs with seed 20260302, and one failed: bins of a saved profile that begin at
# the largest number, mended before its million was read again. Parsers changed after that. A million each once more, at
# the state of 2026-12-01: HDR histograms and logs (12), percentiles, wrk, metrics (prometheus, open metrics, query, native,
# both of otlp), saved profiles (2), json lines, phase labels, gzip and zstd bytes, anything; all others 50,000: no failure,
# at most 59 MB and 0.25 s for an input.
# fuzz/run.sh, guided by coverage: 14,000 inputs in a minute, no failure.
set -euo pipefail
cd "$(dirname "$0")/.."
export WHSIZE_MUTATIONS="${1:-1000000}" WHSIZE_SEED="${2:-20260302}"
[ -z "${3:-}" ] || export WHSIZE_PARSER="$3"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/mutate"
cargo test --locked --release --test cli -- --exact mutated::mutated_input_is_an_answer_or_an_error --nocapture
