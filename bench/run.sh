#!/usr/bin/env bash
# run.sh BUILD_DIR [NAME [OPTIONS]]: runs one benchmark, or all, and writes their figures into docs/benchmarks.md.
# The figures are medians of runs that took turns; none of them is asserted, for machines differ.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
build=$1
name=${2:-all}
shift $(($# < 2 ? $# : 2))

# Name, and what it measures; in the order in which they run.
benchmarks() {
  cat <<'TXT'
events    nanoseconds for each kind of event, against an empty loop and the clock read
overhead  recording six programs that others wrote: same output, time, events, bytes; then advise on each trace
load      events loaded per second, and memory for each event
estimate  estimates per second on a trace of a million tasks, and 10,000 combinations
simulate  simulated events per second of a native run with contended locks
requests  requests simulated a minute on one core, of several sizes, and the processor time of the command load
native    recording pbzip2: same output and the ratio of times; nanoseconds of an interposed lock and unlock
programs  ten native programs: recording with and without sets, trace rates, replays, unnecessary contention; 15 minutes
jvm-sets  recording six programs that others wrote with sets, and with flow, beside the same classes alone; 20 minutes
tools     recording three native programs beside LTTng, uftrace, valgrind's DRD and ThreadSanitizer; 3 minutes
flowprof  the FlowProf paper's programs and their fixes: patterns, gains, slow-down, memory; 10 minutes
deferred  speed-up of the blueprint profiler with every processor, capacity and queue on six programs; 25 minutes, with --few 12
library   nanoseconds of a deferred call, and of an event with each processor in a synthetic program
sockets   processor time of servers, native and JVM, whose requests are recorded, and are not; 4 minutes
server    requests per second of the example server before and after the advice, under wrk, measured and predicted
TXT
}

run_one() {
  printf '== %s\n' "$1" >&2
  case "$1" in
    events | native | overhead | server | sockets) python3 "bench/$1.py" "$build" "${@:2}" ;;
    requests) python3 bench/request_rates.py "$build" "${@:2}" ;;
    jvm-sets) python3 bench/jvm_sets.py "$build" "${@:2}" ;;
    flowprof) python3 bench/flowprof.py "$build" "${@:2}" ;;
    programs) python3 bench/native_programs.py "$build" "${@:2}" ;;
    tools) python3 bench/native_tools.py "$build" "${@:2}" ;;
    deferred) python3 bench/deferred_tables.py "$build" "${@:2}" ;;
    library) python3 bench/deferred.py "$build" "${@:2}" ;;
    load | estimate | simulate) python3 bench/engine.py "$build" "$@" ;;
  esac
}

case "$name" in
  list | --list) benchmarks ;;
  all)
    failed=()
    while read -r each _; do
      run_one "$each" </dev/null || failed+=("$each")
    done < <(benchmarks)
    [ ${#failed[@]} -eq 0 ] || { printf 'bench: missed or failed: %s\n' "${failed[*]}" >&2; exit 1; }
    ;;
  *)
    if ! benchmarks | grep -q "^$name "; then
      printf "bench: no benchmark '%s'; there are:\n%s\n" "$name" "$(benchmarks)" >&2
      exit 1
    fi
    run_one "$name" "$@"
    ;;
esac
