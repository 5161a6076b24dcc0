#!/bin/sh
# generated_trace_test.sh PROGRAMS: a small generated trace loads without loss, is the same each time, and so are the
# estimates of its combinations, on one thread and on two.
set -eu
programs=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
made=$("$programs/make_trace" "$folder/a.cft" 4000)
"$programs/make_trace" "$folder/b.cft" 4000 >"$folder/again"
cmp "$folder/a.cft" "$folder/b.cft"

events=$("$programs/load_bench" "$folder/a.cft" 1 | cut -d' ' -f1)
case "$made" in
  "tasks 4000 events $events bytes "*) ;;
  *) echo "written: $made; loaded: $events events" >&2; exit 1 ;;
esac

sum() { # THREADS
  "$programs/estimate_bench" "$folder/a.cft" 40 "$1" 600 | tr ' ' '\n' | paste - - |
    grep -E '^(estimated|refused|duration_sum_ns)'
}
sum 1 >"$folder/one"
sum 2 >"$folder/two"
grep -q '^estimated	40$' "$folder/one" || { cat "$folder/one" >&2; exit 1; }
cmp "$folder/one" "$folder/two"
