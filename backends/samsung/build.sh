#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the runtime with the Exynos backend, for this computer (build_samsung) or for Android (build_samsung_android).
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: build.sh [-b x86_64|android|all] [--sdk DIR] [--ndk DIR] [-c] [-h]
  -b, --build   what to build for; default: all
  --sdk         the folder of Exynos AI LiteCore; default: EXYNOS_AI_LITECORE_ROOT
  --ndk         the folder of the Android NDK; default: ANDROID_NDK_ROOT
  -c, --clean   removes the build folders first
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
what=all
clean=0
ndk=${ANDROID_NDK_ROOT:-${ANDROID_NDK:-}}
while [ $# -gt 0 ]; do
  case "$1" in
    -b | --build) what=${2:-}; shift ;;
    --sdk) export EXYNOS_AI_LITECORE_ROOT=${2:-}; shift ;;
    --ndk) ndk=${2:-}; shift ;;
    -c | --clean) clean=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "error: unknown argument $1" >&2; usage >&2; exit 1 ;;
  esac
  shift
done
case "$what" in
  x86_64 | android | all) ;;
  *) echo "error: -b: expected x86_64, android or all, found '$what'" >&2; exit 1 ;;
esac

options=(-DCMAKE_BUILD_TYPE=Release -DEXECUTORCH_BUILD_ENN=ON)
for name in EXTENSION_DATA_LOADER EXTENSION_MODULE EXTENSION_NAMED_DATA_MAP EXTENSION_FLAT_TENSOR EXTENSION_RUNNER_UTIL \
    EXTENSION_TENSOR; do
  options+=("-DEXECUTORCH_BUILD_$name=ON")
done

# build FOLDER [more options]
build() {
  folder="$root/$1"
  shift
  [ "$clean" = 0 ] || rm -rf "$folder"
  cmake -S "$root" -B "$folder" -G Ninja "${options[@]}" "-DCMAKE_INSTALL_PREFIX=$folder" "$@"
  cmake --build "$folder" -j "$(nproc)" --target install
}

if [ "$what" != x86_64 ] && [ ! -f "$ndk/build/cmake/android.toolchain.cmake" ]; then
  echo "error: --ndk or ANDROID_NDK_ROOT must be the folder of the Android NDK, found '$ndk'" >&2
  exit 1
fi
if [ "$what" != android ]; then
  build build_samsung
fi
if [ "$what" != x86_64 ]; then
  build build_samsung_android "-DCMAKE_TOOLCHAIN_FILE=$ndk/build/cmake/android.toolchain.cmake" -DANDROID_ABI=arm64-v8a \
    -DANDROID_PLATFORM=android-28
fi
