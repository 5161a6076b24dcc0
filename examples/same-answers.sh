#!/bin/sh
# usage: same-answers.sh JAVA BASE.jar IMPROVED.jar
# Both variants of the server give right answers, and the same ones, with workers to spare and with none.
set -eu
java=$1 base=$2 improved=$3
for load in "--requests 100 --concurrency 2" "--requests 300 --concurrency 40"; do
  # shellcheck disable=SC2086  # the load is several words
  expected=$("$java" -jar "$base" $load)
  # shellcheck disable=SC2086
  actual=$("$java" -jar "$improved" $load)
  echo "$load: $expected"
  if [ "$expected" != "$actual" ]; then
    echo "the improved server answered differently: $actual" >&2
    exit 1
  fi
done
