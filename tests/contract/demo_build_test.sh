#!/usr/bin/env bash
# demo_build_test.sh SOURCE BUILD: `make demo` is the first command a stranger types. It builds the program, the
# trainer where there is a libtorch, and nothing that only tests, benchmarks or lint need; `make program` the program alone.
set -euo pipefail
source=$1
build=$2

# expect_plan TARGET BOOTSTRAP PARTS
expect_plan() {
  local planned
  planned=$(make -n -C "$source" "$1")
  if ! grep -qxE "ninja -C [^ ]+ -j [0-9]+ $3" <<<"$planned" || [ "$(grep -c '^ninja' <<<"$planned")" != 1 ] ||
     ! grep -qxE "tools/bootstrap $2" <<<"$planned"; then
    printf 'make %s: expected tools/bootstrap %s and one ninja for %s, found:\n%s\n' "$1" "$2" "$3" "$planned"
    exit 1
  fi
}
expect_plan program --program 'stoker_program'
expect_plan demo --trainer 'stoker_program trainer'
inputs=$(ninja -C "$build" -t inputs stoker_program trainer)
if ! grep -q 'stoker/cli/main.cc' <<<"$inputs" || grep -E '^(tests|bench)/|/tests/' <<<"$inputs"; then
  echo "stoker_program is built from tests or benchmarks"
  exit 1
fi
