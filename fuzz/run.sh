#!/usr/bin/env bash
# run.sh BUILD_DIR SECONDS [NAME]: runs every fuzzer, or NAME, for SECONDS each, one after another; fails at the first finding.
# run.sh BUILD_DIR --runs N [NAME]: the same for N inputs each.
# What a fuzzer learns is kept in BUILD_DIR/corpus, a failing input in BUILD_DIR/findings.
set -euo pipefail
build=$1
shift
if [ "$1" = --runs ]; then
  limit=-runs=$2 words="$2 inputs"
  shift 2
else
  case $1 in *[!0-9]*) set -- 60 "$@" ;; esac
  limit=-max_total_time=$1 words="$1 s"
  shift
fi
seeds="$(dirname "$0")/seeds"
mkdir -p "$build/findings"
for fuzzer in "$build"/bin/${1:-*}_fuzz; do
  name=$(basename "$fuzzer")
  [ -x "$fuzzer" ] || { printf "no fuzzer '%s'\n" "$name" >&2; exit 1; }
  mkdir -p "$build/corpus/$name" "$seeds/$name"
  silent=(); [ "$name" = command_fuzz ] && silent=(-close_fd_mask=3)  # it runs commands as a whole, which print
  printf '== %s for %s\n' "$name" "$words" >&2
  "$fuzzer" "$limit" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 ${silent[@]+"${silent[@]}"} \
    -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "$seeds/$name" 2>&1 | tail -n 12
done
