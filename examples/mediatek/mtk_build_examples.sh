#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the runners of MediaTek's NPUs in cmake-android-out, behind backends/mediatek/scripts/mtk_build.sh.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build="$root/cmake-android-out"
if [ ! -f "$build/CMakeCache.txt" ]; then
  echo "Error: $build is not there: run backends/mediatek/scripts/mtk_build.sh before." >&2
  exit 1
fi
cmake -S "$root" -B "$build" -DEXECUTORCH_BUILD_EXTENSION_RUNNER_UTIL=ON -DEXECUTORCH_BUILD_EXTENSION_EVALUE_UTIL=ON
cmake --build "$build" -j "$(nproc)" --target mtk_executor_runner mtk_oss_executor_runner
