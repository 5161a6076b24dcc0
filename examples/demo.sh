#!/usr/bin/env bash
# demo.sh BUILD_DIR: records the example server under wrk at a moderate load, prints what limits it and what would improve it,
# then really runs it and its improved variant under the load that saturates them, and holds the prediction against that.
# demo-out/ then has the trace, the specs, and the load's curve as CSV. Takes some 20 seconds; ends what it started.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
contrafact=$build/bin/contrafact
out=demo-out
changes=4
rm -rf "$out"
mkdir -p "$out/specs"

bold='' plain=''
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] && bold=$'\033[1m' plain=$'\033[0m'
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
step() { say "\$ $*"; "$@"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }

# Server and client have a core each, where there are two.
read -r -a cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2])')
on_first=() on_second=()
[ "${#cores[@]}" = 2 ] && on_first=(taskset -c "${cores[0]}") && on_second=(taskset -c "${cores[1]}")

server='' loading=''  # process ids
end() { [ -z "$1" ] || { kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; }; }
stop() { end "$server"; server=''; }
trap 'stop; end "$loading"' EXIT
trap 'exit 130' INT TERM

# Starts a server that ends by itself after a minute, and sets $url. start LOG COMMAND...
start() {
  local log=$1 port='' i
  shift
  : >"$log"
  "${on_first[@]}" "$@" --serve --seconds 60 >"$log" 2>&1 &
  server=$!
  for ((i = 0; i < 400; ++i)); do
    port=$(sed -n 's/^serving on 127.0.0.1:\([0-9]*\) .*/\1/p' "$log")
    [ -n "$port" ] && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  [ -n "$port" ] || fail "the server did not start: $(tail -n 3 "$log")"
  url=http://127.0.0.1:$port
}

client() { "${on_second[@]}" wrk --threads 1 --connections "$1" --duration "$2" --latency --timeout 30s --script examples/api-server/requests.lua "$url"; }

# Starts a server and warms it up. warm SECONDS JAR ARGUMENTS...
warm() {
  local seconds=$1
  shift
  start "$out/server.log" java -jar "$@"
  client 16 "$seconds" >/dev/null
}

# Sets $measured to "REQUESTS/S P99_MS" of the server at saturation, and ends it. measure CLIENTS
measure() {
  local found
  found=$(client "$1" 2s)
  stop
  ! grep -q 'Non-2xx\|Socket errors' <<<"$found" || fail "the server answered wrongly: $found"
  measured=$(awk '/^ *99%/ { at = $2; ms = at + 0; if (at !~ /ms$/) ms *= at ~ /us$/ ? 0.001 : 1000 } /^Requests\/sec/ { print $2, ms }' <<<"$found")
}

say "\$ $contrafact record -o $out/server.cft --warm -- java -jar $build/java/api-server.jar --serve    # while wrk asks on 4 connections"
start "$out/record.log" "$contrafact" record -o "$out/server.cft" --warm -- java -jar "$build/java/api-server.jar"
client 4 5s >"$out/wrk.log"
stop
grep -E '^contrafact' "$out/record.log" || true
[ -f "$out/server.cft" ] || fail "nothing was recorded: $(tail -n 3 "$out/record.log")"

step "$contrafact" advise "$out/server.cft" --changes $changes --source examples/api-server --specs "$out/specs"
[ -f "$out/specs/best.json" ] || fail "nothing was advised for this recording"
# The server as it was warms up meanwhile.
"$contrafact" load "$out/server.cft" --quiet --apply "$out/specs/best.json" --csv >"$out/load.csv" &
loading=$!
warm 1s "$build/java/api-server.jar"
wait "$loading" || fail "the loads could not be simulated"
loading=''

python3 examples/advised.py "$out/specs/best.json" "$out/load.csv" >"$out/advised.txt"
read -r sizes <"$out/advised.txt"
read -r base_clients base_per_s base_p99_ms clients per_s p99_ms < <(sed -n 2p "$out/advised.txt")
sed -n '3,$p' "$out/advised.txt"

say "The server as it was, and with these changes made (examples/api-server-improved $sizes), under wrk with as many connections as saturate it:"
measure "$base_clients"
read -r base_real base_p99_real <<<"$measured"
# shellcheck disable=SC2086  # several words
warm 2s "$build/java/api-server-improved.jar" $sizes
measure "$clients"
read -r changed_real changed_p99_real <<<"$measured"

row() { printf '%-14s %11s %11s %11s %8s %11s %11s\n' "$@"; }
row '' connections 'requests/s' measured off 'p99' measured
for each in "as recorded,$base_clients,$base_per_s,$base_real,$base_p99_ms,$base_p99_real" \
  "changed,$clients,$per_s,$changed_real,$p99_ms,$changed_p99_real"; do
  IFS=, read -r name n predicted real p99 p99_real <<<"$each"
  row "$name" "$n" "$(printf %.0f "$predicted")" "$(printf %.0f "$real")" \
    "$(awk "BEGIN { printf \"%+.0f %%\", 100 * ($predicted / $real - 1) }")" "$(printf '%.0f ms' "$p99")" "$(printf '%.0f ms' "$p99_real")"
done
awk "BEGIN { printf \"%-14s %11s %10.2fx %10.2fx\n\", \"ratio\", \"\", $per_s / $base_per_s, $changed_real / $base_real }"

printf '\nIn %s: server.cft (the trace), specs/ (one file for each change, and best.json), load.csv (throughput and latency against load).\n' "$out"
