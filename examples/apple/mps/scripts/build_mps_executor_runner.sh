#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds mps_executor_runner, on a Mac.
#   --output=FOLDER  of the build (cmake-out)
#   --Debug          with assertions and symbols
set -euo pipefail
output=cmake-out mode=Release
echo "warning: the MPS backend is deprecated; use the Core ML backend (examples/apple/coreml)" >&2
for argument in "$@"; do
  case $argument in
    --output=*) output=${argument#*=} ;;
    --Debug) mode=Debug ;;
    --help | -h) sed -n '3,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "error: unknown argument $argument; --help lists them" >&2; exit 1 ;;
  esac
done
if [ "$(uname)" != Darwin ]; then
  echo "error: mps_executor_runner needs macOS with Xcode, found $(uname): programs are exported here, and run there" >&2
  exit 1
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."
cmake -S . -B "$output" -DCMAKE_BUILD_TYPE=$mode -DEXECUTORCH_BUILD_MPS=ON -DEXECUTORCH_BUILD_DEVTOOLS=ON
cmake --build "$output" --target mps_executor_runner
