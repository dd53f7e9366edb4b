#!/usr/bin/env bash
# emulated_mel_test.sh TEST_CACHE: the bytes of the mel on processors that are not this one. qemu computes what IEEE
# defines in software and everything else in a way of its own, so it is a third maker beside AMD and Intel.
set -euo pipefail
program=$1
if [ "$(uname -m)" != x86_64 ]; then echo "skipped: the digests are those of x86-64"; exit 77; fi
if ! command -v qemu-x86_64 >/dev/null; then echo "skipped: qemu-x86_64 is not installed (tools/bootstrap)"; exit 77; fi

# expect_bytes PROCESSOR LEVEL: the digests of LEVEL, on a processor that must have it.
expect_bytes() {
  local said
  if ! said=$(qemu-x86_64 -cpu "$1" "$program" --gtest_filter="*CodeVersionTest*_$2" 2>&1); then
    printf '%s\nqemu -cpu %s: other bytes with %s\n' "$said" "$1" "$2"
    return 1
  fi
  if ! grep -q 'PASSED' <<<"$said" || grep -q 'SKIPPED\|PASSED  \] 0 tests' <<<"$said"; then
    printf '%s\nqemu -cpu %s: a case with %s did not run\n' "$said" "$1" "$2"
    return 1
  fi
}

if ! qemu-x86_64 -cpu max "$program" --gtest_list_tests >/dev/null; then
  echo "qemu-x86_64 cannot run $program"
  exit 1
fi
expect_bytes max avx2
expect_bytes max scalar
# Without AVX and FMA the C library's functions take other ways too; they make the tables.
expect_bytes Nehalem scalar
