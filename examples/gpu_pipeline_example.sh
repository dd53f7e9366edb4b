#!/usr/bin/env bash
# Seven ways to train with the GPU pipeline, from the plain one to production and debugging.
#
#   examples/gpu_pipeline_example.sh            all of them, one after the other
#   examples/gpu_pipeline_example.sh 3 6        only these
#
# DATA names the data set (default: one is made with the built-in voice), STEPS how many steps each run takes, SIZE the
# model, RUNS where the run folders go, STOKER the program. Two GPUs are asked for where the name says so; on a machine
# with fewer, stoker falls back to one and warns, and without any it trains on the CPU.
set -euo pipefail

STOKER=${STOKER:-stoker}
RUNS=${RUNS:-runs}
DATA=${DATA:-$RUNS/data}
STEPS=${STEPS:-100}
SIZE=${SIZE:-tiny}

mkdir -p "$RUNS"
[ -d "$DATA" ] || "$STOKER" data make --out "$DATA" --clips 200

# train NAME OPTION…: one run in a folder of its own.
train() {
  local name=$1
  shift
  printf '\n== %s: stoker train --train-data %s %s\n' "$name" "$DATA" "$*"
  "$STOKER" train --train-data "$DATA" --checkpoint-dir "$RUNS/$name" --model-size "$SIZE" --steps "$STEPS" "$@"
}

# 1. One GPU, a buffer of 50 batches on it: what most people need.
default() { train default; }

# 2. Storage or network with long pauses: more batches wait on the GPU.
large_buffer() { train large-buffer --buffer-size 100; }

# 3. One GPU makes the features, another one trains.
multi_gpu() { train multi-gpu --data-gpu 0 --model-gpu 1; }

# 4. The same, with a larger buffer and more time to fill it before the first step.
multi_gpu_tuned() { train multi-gpu-tuned --data-gpu 0 --model-gpu 1 --buffer-size 75 --model-start-delay 3.5; }

# 5. A small card: a short buffer, and four batches summed for one update.
small_memory() { train small-memory --buffer-size 25 --grad-accum 4; }

# 6. Production: two GPUs, and few shapes, so that every step takes the same time.
production() { train production --data-gpu 0 --model-gpu 1 --enable-static-shapes; }

# 7. Development: step by step, so that an error is reported where it happens.
development() { train development --enable-eager-debug; }

cases=(default large_buffer multi_gpu multi_gpu_tuned small_memory production development)
[ $# -gt 0 ] || set -- 1 2 3 4 5 6 7
for number in "$@"; do
  case $number in
    [1-7]) "${cases[$((number - 1))]}" ;;
    *)
      echo "there is no example $number; they are 1 to 7" >&2
      exit 2
      ;;
  esac
done
