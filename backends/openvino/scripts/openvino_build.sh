#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the backend and what runs its programs into cmake-out, as the OpenVINO page says.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build="$root/cmake-out"
options=(-DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_OPENVINO=ON)
for name in EXTENSION_DATA_LOADER EXTENSION_MODULE EXTENSION_NAMED_DATA_MAP EXTENSION_RUNNER_UTIL EXTENSION_FLAT_TENSOR \
    EXTENSION_TENSOR EXECUTOR_RUNNER KERNELS_QUANTIZED; do
  options+=("-DEXECUTORCH_BUILD_$name=ON")
done

# build [more options]: a fresh build folder with all programs.
build() {
  rm -rf "$build"
  cmake -S "$root" -B "$build" -G Ninja "${options[@]}" "$@"
  cmake --build "$build" -j "$(nproc)"
}

case "${1:---build_all}" in
  --build_all)
    build -DEXECUTORCH_BUILD_PYBIND=ON
    ;;
  --cpp_runtime)
    build
    ;;
  --cpp_runtime_llm)
    build -DEXECUTORCH_BUILD_EXTENSION_LLM=ON -DEXECUTORCH_BUILD_EXTENSION_LLM_RUNNER=ON
    ;;
  --enable_python)
    cd "$root" && ./install_executorch.sh
    ;;
  *)
    echo "error: unknown argument $1; expected --build_all (without one), --cpp_runtime, --cpp_runtime_llm or --enable_python" >&2
    exit 1
    ;;
esac
