#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds cmake-out/backends/cadence/cadence_runner for this computer, which runs bundled programs with the generic kernels.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset linux -B cmake-out -DEXECUTORCH_BUILD_CADENCE=ON -DEXECUTORCH_CADENCE_CPU_RUNNER=ON "$@"
cmake --build cmake-out --target cadence_runner
