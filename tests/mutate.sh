#!/usr/bin/env bash
# Reads a million mutated inputs with each parser, in release mode; CI runs a few hundred of each.
#
#   tests/mutate.sh [INPUTS] [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
export WHSIZE_MUTATIONS="${1:-1000000}" WHSIZE_SEED="${2:-20260302}"
cargo test --locked --release --test cli -- --exact mutated::mutated_input_is_an_answer_or_an_error --nocapture
