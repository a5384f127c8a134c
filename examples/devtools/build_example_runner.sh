#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds cmake-out/examples/devtools/example_runner, with events. Run it in the root of the repository.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake -B cmake-out -DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_DEVTOOLS=ON -DEXECUTORCH_ENABLE_EVENT_TRACER=ON \
  -DEXECUTORCH_BUILD_EXECUTOR_RUNNER=ON "$@"
cmake --build cmake-out --target example_runner -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
