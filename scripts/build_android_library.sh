#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libexecutorch.so for each ABI of Android, and executorch.aar with them and the Java classes. No flags; from the environment:
#   ANDROID_NDK              the NDK (default /opt/ndk; r28c is what is tested elsewhere, 26c works)
#   ANDROID_HOME, ANDROID_SDK   only for Gradle: `cd extension/android && ./gradlew build`
#   ANDROID_ABIS             default "arm64-v8a x86_64"; also armeabi-v7a
#   BUILD_AAR_DIR            where executorch.aar goes; without it, aar-out
#   EXECUTORCH_CMAKE_BUILD_TYPE      Release (default) or Debug
#   EXECUTORCH_BUILD_EXTENSION_LLM   ON (default) or OFF: language models and speech
#   EXECUTORCH_BUILD_VULKAN          OFF (default) or ON
#   EXECUTORCH_ANDROID_PROFILING     OFF (default) or ON: Module.etdump() writes events
#   XNNPACK_ENABLE_ARM_SME2          ON (default) or OFF
#   QNN_SDK_ROOT             Qualcomm's SDK: its backend and libraries
#   NEURON_BUFFER_ALLOCATOR_LIB, NEURON_USDK_ADAPTER_LIB   MediaTek's
#   PYTHON_EXECUTABLE        default: the environment's, else python3
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
ndk=${ANDROID_NDK:-/opt/ndk}
abis=${ANDROID_ABIS:-arm64-v8a x86_64}
build_type=${EXECUTORCH_CMAKE_BUILD_TYPE:-Release}
llm=${EXECUTORCH_BUILD_EXTENSION_LLM:-ON}
out=${BUILD_AAR_DIR:-aar-out}
python=${PYTHON_EXECUTABLE:-python3}
libraries=$root/cmake-out-android-so

fail() {
  echo "build_android_library: $1" >&2
  exit 2
}

[ -f "$ndk/build/cmake/android.toolchain.cmake" ] || fail "no Android NDK at $ndk: set ANDROID_NDK to its folder, which has NOTICE \
and build/cmake/android.toolchain.cmake (https://developer.android.com/ndk/downloads)"
for abi in $abis; do
  case $abi in
    arm64-v8a | x86_64 | armeabi-v7a) ;;
    *) fail "ANDROID_ABIS: '$abi' is none of arm64-v8a, x86_64, armeabi-v7a" ;;
  esac
done

# Options of vendors' SDKs, which have libraries for arm64-v8a only.
vendor_options() {
  [ "$1" = arm64-v8a ] || return 0
  [ -z "${QNN_SDK_ROOT:-}" ] || echo "-DEXECUTORCH_BUILD_QNN=ON -DQNN_SDK_ROOT=$QNN_SDK_ROOT"
  [ -z "${NEURON_BUFFER_ALLOCATOR_LIB:-}" ] || echo "-DEXECUTORCH_BUILD_NEURON=ON \
-DNEURON_BUFFER_ALLOCATOR_LIB=$NEURON_BUFFER_ALLOCATOR_LIB -DNEURON_USDK_ADAPTER_LIB=${NEURON_USDK_ADAPTER_LIB:-}"
}

build_library() {
  abi=$1
  build=$root/cmake-out-android-$abi
  # Paths of SDKs may have no spaces in them: options are words.
  # shellcheck disable=SC2046
  (cd "$root" && cmake --preset "android-$abi" -B "$build" -DANDROID_PLATFORM=android-26 \
    -DCMAKE_BUILD_TYPE="$build_type" \
    -DEXECUTORCH_BUILD_ANDROID_JNI=ON -DEXECUTORCH_BUILD_LLAMA_JNI="$llm" \
    -DEXECUTORCH_BUILD_EXTENSION_LLM="$llm" -DEXECUTORCH_BUILD_EXTENSION_LLM_RUNNER="$llm" \
    -DEXECUTORCH_BUILD_EXTENSION_ASR_RUNNER="$llm" -DEXECUTORCH_BUILD_VULKAN="${EXECUTORCH_BUILD_VULKAN:-OFF}" \
    -DEXECUTORCH_ANDROID_PROFILING="${EXECUTORCH_ANDROID_PROFILING:-OFF}" \
    -DXNNPACK_ENABLE_ARM_SME2="${XNNPACK_ENABLE_ARM_SME2:-ON}" -DPYTHON_EXECUTABLE="$python" $(vendor_options "$abi"))
  cmake --build "$build" --target executorch_jni --config "$build_type" -j "$(nproc)"
  mkdir -p "$libraries/$abi"
  cp "$build/extension/android/libexecutorch.so" "$libraries/$abi/"
  [ "$build_type" != Release ] || strip_library "$libraries/$abi/libexecutorch.so"
  add_vendor_libraries "$abi"
}

strip_library() {
  for tool in "$ndk"/toolchains/llvm/prebuilt/*/bin/llvm-strip; do
    [ ! -x "$tool" ] || "$tool" --strip-unneeded "$1"
  done
}

# What the backends load at run time stands beside the library.
add_vendor_libraries() {
  [ "$1" = arm64-v8a ] || return 0
  [ -z "${QNN_SDK_ROOT:-}" ] || cp "$QNN_SDK_ROOT"/lib/aarch64-android/libQnn*.so \
    "$QNN_SDK_ROOT"/lib/hexagon-v*/unsigned/libQnnHtpV*Skel.so "$libraries/$1/"
  [ -z "${NEURON_BUFFER_ALLOCATOR_LIB:-}" ] || cp "$NEURON_BUFFER_ALLOCATOR_LIB" "$NEURON_USDK_ADAPTER_LIB" "$libraries/$1/"
}

export ANDROID_NDK="$ndk" # the presets' toolchain reads it
flavor=xnnpack
[ "${EXECUTORCH_BUILD_VULKAN:-OFF}" != ON ] || flavor=vulkan
[ -z "${QNN_SDK_ROOT:-}" ] || flavor=qnn
rm -rf "$libraries"
for abi in $abis; do
  build_library "$abi"
done
PYTHONPATH=$root/src${PYTHONPATH:+:$PYTHONPATH} "$python" -m executorch.tools.android aar --libraries "$libraries" --out "$out" \
  --flavor "$flavor"
