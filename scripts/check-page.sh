#!/usr/bin/env bash
# Opens the page of a plan in headless Chromium: no console message, nothing loaded, every figure there with its numbers.
# On paper the numbers of the figures are there as well. With a folder as argument, leaves screenshots there: light and
# dark, wide and narrow. Needs Debian's packages chromium and poppler-utils.
set -euo pipefail
cd "$(dirname "$0")/.."
whsize=${WHSIZE:-target/debug/whsize}
screenshots=${1:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }

browser() {
    timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
        --user-data-dir="$(mktemp -d "$folder/user.XXXX")" "$@"
}

# The plan of the documentation with a pool whose phases were measured.
cp -r docs/examples fixtures "$folder"
cat >> "$folder/examples/whsize.toml" << POOL
[pool.phases]
profile = "../fixtures/phases.csv"
rate = 20
wait = "1s"
POOL
sed -i 's#"../../fixtures#"../fixtures#' "$folder/examples/whsize.toml"
"$whsize" plan "$folder/examples/whsize.toml" --format html > "$folder/plan.html" || [ $? = 1 ]
page=file://$folder/plan.html

browser --enable-logging=stderr --log-level=0 --dump-dom "$page" > "$folder/dom.html" 2> "$folder/log"
if grep -E 'CONSOLE|Refused|ERR_' "$folder/log"; then fail "the page has something to say on the console"; fi
figures=$(grep -c '<figure' "$folder/dom.html")
drawn=$(grep -c '<svg' "$folder/dom.html")
tables=$(grep -c '<caption' "$folder/dom.html")
[ "$figures" = 7 ] || fail "there are $figures figures, not 7: wait, distribution, backlog, replay; wait, distribution, phases"
[ "$drawn" = "$figures" ] || fail "$drawn of $figures figures are drawn"
[ "$tables" -ge "$figures" ] || fail "$tables tables of numbers for $figures figures"

# What the browser laid out: as wide as its window, so that nothing is cut off on a telephone.
for width in 1200 400; do
    for scheme in light dark; do
        number=$([ "$scheme" = dark ] && echo 0 || echo 1)
        shot=$folder/$scheme-$width.png
        browser --blink-settings=preferredColorScheme="$number" --window-size="$width,2400" \
            --screenshot="$shot" "$page" 2> "$folder/log"
        [ -s "$shot" ] || fail "no screenshot, $scheme at $width"
        [ -z "$screenshots" ] || cp "$shot" "$screenshots/"
    done
done
# On paper nothing can be opened: a wait and a backlog that only the tables of numbers have, on a bounded number of pages.
browser --print-to-pdf="$folder/plan.pdf" --no-pdf-header-footer "$page" 2> "$folder/log"
pdftotext -layout "$folder/plan.pdf" "$folder/plan.txt"
captions=$(grep -c 'time *arriving *served' "$folder/plan.txt" || true)
[ "$captions" -ge 1 ] || fail "the numbers of the figures are not on the printed page"
numbers=$(grep -cE '^ *1[0-9]{3} +[0-9.]+ (s|ms|us)' "$folder/plan.txt" || true)
[ "$numbers" -ge 20 ] || fail "$numbers rows of numbers are on the printed page, not 20"
pages=$(pdfinfo "$folder/plan.pdf" | awk '/^Pages:/ { print $2 }')
[ "$pages" -le 24 ] || fail "the printed page takes $pages pages"

cmp -s "$folder/light-1200.png" "$folder/dark-1200.png" && fail "dark looks like light"
echo "5 passed, 0 failed: console, figures, numbers, schemes, paper"
