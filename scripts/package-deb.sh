#!/usr/bin/env bash
# Builds the Debian package (release binary, manual pages, completions, documents), and tries what is in it.
# Needs cargo-deb (cargo install cargo-deb) and Debian's dpkg-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "$*" >&2; exit 1; }

cargo build --release --locked
target=${CARGO_TARGET_DIR:-target}
whsize=$target/release/whsize
files=target/package-files
mkdir -p "$files/man"
"$whsize" man > "$files/man/whsize.1"
for command in size drain ingest simulate layout autoscale autoscale-decide autoscale-replay diagnose validate sandbox pipeline plan check; do
    "$whsize" man "$command" > "$files/man/whsize-$command.1"
done
"$whsize" completions bash > "$files/whsize.bash"
"$whsize" completions zsh > "$files/_whsize"
"$whsize" completions fish > "$files/whsize.fish"
package=$(cargo deb --no-build --locked)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-deb --extract "$package" "$folder"
[ "$("$folder/usr/bin/whsize" size --rate 900 --mean 1.4 --wait 0.5 --only workers)" = 1263 ] || fail "the packaged program does not answer"
for file in share/man/man1/whsize.1.gz share/man/man1/whsize-size.1.gz share/bash-completion/completions/whsize share/doc/whsize/copyright; do
    [ -s "$folder/usr/$file" ] || fail "$file is not in the package"
done
dpkg-deb --field "$package" Package Version Depends
echo "$package"
