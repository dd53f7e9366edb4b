#!/usr/bin/env bash
# Runs the seven examples of examples/gpu_pipeline_example.sh at small size: each must end well, and where there are not
# two GPUs those that ask for them must say so.
set -euo pipefail
program=$1
example=$2
if "$program" --version --verbose | grep -q 'libtorch *absent'; then
  echo "this build has no libtorch"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" data make --out "$folder/data" --clips 16 --lengths uniform:0.6-2.4 --json >"$folder/make"
STOKER=$program RUNS=$folder/runs DATA=$folder/data STEPS=1 "$example" >"$folder/out" 2>"$folder/err" || {
  cat "$folder/out" "$folder/err"
  exit 1
}
[ "$(grep -c '^== ' "$folder/out")" -eq 7 ]
[ "$(find "$folder/runs" -path '*/checkpoints/step-*' -name state.json | wc -l)" -eq 7 ]
if [ "$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)" -lt 2 ]; then
  [ "$(grep -c '^warning: ' "$folder/err")" -ge 3 ] || {
    cat "$folder/err"
    echo "no warning where two GPUs were asked for"
    exit 1
  }
fi
