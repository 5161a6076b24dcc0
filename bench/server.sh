#!/bin/sh
# usage: server.sh BASE.jar IMPROVED.jar [ROUNDS]
# Requests per second of the example server before and after the advised improvements, with the same pool of workers and
# under the same load, which saturates it. The variants take turns, so that a slow spell of the machine meets both.
set -eu
base=$1 improved=$2 rounds=${3:-3}
java=${JAVA:-java}
load="--requests 2000 --concurrency 64"
results=$(mktemp)
trap 'rm -f "$results"' EXIT

run() { # NAME JAR
  # shellcheck disable=SC2086  # the load is several words
  output=$("$java" -jar "$2" $load 2>&1) || { echo "$output" >&2; exit 1; }
  rate=$(echo "$output" | sed -n 's/^wall .* s, \([0-9.]*\) requests.*/\1/p')
  checksum=$(echo "$output" | sed -n 's/.*checksum //p')
  echo "$1 $rate $checksum" >>"$results"
  echo "$1: $rate requests/s, checksum $checksum"
}

round=0
while [ "$round" -lt "$rounds" ]; do
  run base "$base"
  run improved "$improved"
  round=$((round + 1))
done

[ "$(cut -d' ' -f3 "$results" | sort -u | wc -l)" = 1 ] || { echo "the variants' answers differ" >&2; exit 1; }
median() { # NAME
  grep "^$1 " "$results" | cut -d' ' -f2 | sort -n |
    awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
awk -v base="$(median base)" -v improved="$(median improved)" \
  'BEGIN { printf "medians: base %.1f, improved %.1f requests/s; ratio %.2f\n", base, improved, improved / base }'
