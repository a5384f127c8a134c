#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs every program of this folder on this device: what is right, and the fastest of some runs.
#   sh check.sh EXECUTOR_RUNNER [part of a name]        RUNS=10: how many runs are timed
# Each program has a process of its own: a driver that crashes fails one of them.
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
  echo "usage: sh check.sh EXECUTOR_RUNNER [part of a name]: expected a program that can be run, found '$1'" >&2
  exit 2
fi
runner=$1
folder=$(dirname "$0")
passed=0
failed=0
for file in "$folder"/*"$2"*.pte; do
  [ -f "$file" ] || continue
  name=$(basename "$file" .pte)
  said=$("$runner" --self_test --num_executions="${RUNS:-10}" --model_path="$file" 2>&1)
  status=$?
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
    ms=$(printf '%s\n' "$said" | sed -n 's/^self-test .*fastest \(.*\) ms$/\1/p' | tail -n 1)
    printf 'ok    %-60s %s ms\n' "$name" "$ms"
  else
    failed=$((failed + 1))
    printf 'FAIL  %-60s status %s\n' "$name" "$status"
    printf '%s\n' "$said" | tail -n 4 | sed 's/^/        /'
  fi
done
if [ $((passed + failed)) -eq 0 ]; then
  echo "no program in $folder: python -m executorch.backends.test.device_check writes them" >&2
  exit 2
fi
echo "$passed of $((passed + failed)) programs are right"
[ $failed -eq 0 ]
