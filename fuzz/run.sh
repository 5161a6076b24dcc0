#!/usr/bin/env bash
# run.sh BUILD_DIR SECONDS: runs every fuzzer for SECONDS each, one after another; fails at the first finding.
# What a fuzzer learns is kept in BUILD_DIR/corpus, a failing input in BUILD_DIR/findings.
set -euo pipefail
build=$1 seconds=$2
seeds="$(dirname "$0")/seeds"
mkdir -p "$build/findings"
for fuzzer in "$build"/bin/*_fuzz; do
  name=$(basename "$fuzzer")
  mkdir -p "$build/corpus/$name" "$seeds/$name"
  printf '== %s for %s s\n' "$name" "$seconds" >&2
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "$seeds/$name" 2>&1 | tail -n 12
done
