#!/usr/bin/env bash
# Builds the Debian package: the release binary, its manual and its completions. Needs cargo-deb (cargo install cargo-deb).
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked
files=target/package-files
mkdir -p "$files"
target/release/whsize man > "$files/whsize.1"
target/release/whsize completions bash > "$files/whsize.bash"
target/release/whsize completions zsh > "$files/_whsize"
target/release/whsize completions fish > "$files/whsize.fish"
cargo deb --no-build --locked
