#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds libneuron_backend.so and the runtime for Android into cmake-android-out, as the MediaTek page says.
set -euo pipefail

if [ -z "${ANDROID_NDK:-}" ]; then
  echo "Error: ANDROID_NDK environment variable is not set." >&2
  exit 1
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
header="$root/backends/mediatek/runtime/include/api/NeuronAdapter.h"
if [ ! -f "$header" ]; then
  echo "Error: expected $header: copy it from MediaTek's NeuroPilot Express SDK." >&2
  exit 1
fi
build="$root/cmake-android-out"
options=(-DCMAKE_BUILD_TYPE=Release -DANDROID_ABI=arm64-v8a -DANDROID_PLATFORM=android-26
  "-DCMAKE_TOOLCHAIN_FILE=$ANDROID_NDK/build/cmake/android.toolchain.cmake" "-DCMAKE_INSTALL_PREFIX=$build")
for name in EXTENSION_DATA_LOADER EXTENSION_FLAT_TENSOR EXTENSION_MODULE EXTENSION_NAMED_DATA_MAP EXTENSION_TENSOR NEURON; do
  options+=("-DEXECUTORCH_BUILD_$name=ON")
done
rm -rf "$build"
cmake -S "$root" -B "$build" -G Ninja "${options[@]}"
cmake --build "$build" -j "$(nproc)" --target install
