#!/bin/sh
# usage: on_processor.sh baseline|avx2|avx512 PROGRAM [ARGUMENTS...]
#
# Runs a test program as a processor of that level would: the lower two emulated, whatever this one has; AVX-512, which
# is not emulated, on this one. Where that cannot be it says "not measured" and ends with 77, which `./dev test` counts.
level=$1
shift
not_measured() {
  echo "not measured: $1"
  exit 77
}
case $level in
  baseline) model=Opteron_G1 ;;  # the first processor of x86-64: SSE2 and no more
  avx2) model=Haswell ;;
  avx512)
    grep -qw avx512f /proc/cpuinfo || not_measured "this processor has no AVX-512"
    exec "$@"
    ;;
  *)
    echo "no level '$level'" >&2
    exit 1
    ;;
esac
command -v qemu-x86_64 >/dev/null || not_measured "no qemu-x86_64 (./dev setup test)"
CONTRAFACT_EMULATED=1 exec qemu-x86_64 -cpu $model "$@"
