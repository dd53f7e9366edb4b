#!/usr/bin/env bash
# demo_build_test.sh SOURCE BUILD: `make demo` is the first command a stranger types. It builds the program and nothing
# that only tests, benchmarks or lint need.
set -euo pipefail
source=$1
build=$2

planned=$(make -n -C "$source" demo)
if ! grep -qE '^ninja .* stoker_program$' <<<"$planned"; then
  printf 'expected one ninja for stoker_program, found:\n%s\n' "$planned"
  exit 1
fi
if [ "$(grep -c '^ninja' <<<"$planned")" != 1 ] || ! grep -qxE 'tools/bootstrap --program' <<<"$planned"; then
  printf 'expected tools/bootstrap --program and one ninja, found:\n%s\n' "$planned"
  exit 1
fi
inputs=$(ninja -C "$build" -t inputs stoker_program)
if ! grep -q 'stoker/cli/main.cc' <<<"$inputs" || grep -E '^(tests|bench)/|/tests/' <<<"$inputs"; then
  echo "stoker_program is built from tests or benchmarks"
  exit 1
fi
