#!/usr/bin/env bash
# demo.sh BUILD_DIR: records the example server under its own load, prints what would improve it, and leaves in demo-out/
# the trace, the improvement specs, the metrics as CSV and the concurrency profile as a page.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
contrafact=$build/bin/contrafact
out=demo-out
rm -rf "$out"
mkdir -p "$out/specs"

step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
[ -t 1 ] || step() { printf '\n$ %s\n' "$*"; "$@"; }

step "$contrafact" record -o "$out/server.cft" -- java -jar "$build/java/api-server.jar" --requests 400 --concurrency 4
step "$contrafact" advise "$out/server.cft" --specs "$out/specs"
step "$contrafact" estimate "$out/server.cft" --apply "$out/specs/best.json" -o "$out/estimated.cft"
step "$contrafact" compare "$out/server.cft" "$out/estimated.cft" --plot "$out/profile.html"
step "$contrafact" export "$out/server.cft" --format csv -o "$out/metrics.csv"

printf '\nIn %s: the trace, specs/ (one file for each improvement), metrics.csv, and profile.html for a browser.\n' "$out"
