#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds llama_main and libllama_runner.so for a Raspberry Pi with a 64-bit system, on a Linux machine: setup.sh pi4|pi5
#   --toolchain=FOLDER      an unpacked Arm GNU toolchain (aarch64-none-linux-gnu); without it the system's cross compiler
#   --toolchain-url=URL     an archive of one, fetched into the build folder (--toolchain-md5=SUM: checked)
#   --sysroot=FOLDER        a copy of the Pi's file system, whose libraries the programs are linked with
#   --build=FOLDER          another build folder than cmake-out
#   --force-rebuild         begin with an empty build folder
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
board="" toolchain=${TOOLCHAIN_PATH:-} url="" md5="" sysroot="" build="$root/cmake-out" rebuild=0
fail() { printf '[ERROR] %s\n' "$1" >&2; exit 1; }
success() { printf '[SUCCESS] %s\n' "$1"; }

for argument in "$@"; do
  case $argument in
    pi4 | pi5) board=$argument ;;
    --toolchain=*) toolchain=${argument#*=} ;;
    --toolchain-url=*) url=${argument#*=} ;;
    --toolchain-md5=*) md5=${argument#*=} ;;
    --sysroot=*) sysroot=${argument#*=} ;;
    --build=*) build=${argument#*=} ;;
    --force-rebuild) rebuild=1 ;;
    -h | --help) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown argument $argument; --help lists them" ;;
  esac
done
[ -n "$board" ] || fail "which board? setup.sh pi4 or setup.sh pi5"
[ "$(uname -s)" = Linux ] || fail "expected Linux, found $(uname -s): cross compilers for the Pi are Linux programs here"
hash cmake git md5sum 2>/dev/null || fail "missing tools: this needs cmake, git and md5sum"
[ -z "$sysroot" ] || [ -d "$sysroot/usr/include" ] || fail "--sysroot=$sysroot has no usr/include: copy the Pi's file system there (rsync)"
if [ "$rebuild" = 1 ] && [ -e "$build" ]; then
  [ -f "$build/CMakeCache.txt" ] || fail "--force-rebuild empties $build, which is no build folder: it has no CMakeCache.txt"
  rm -rf "$build"
fi
mkdir -p "$build"

fetch_toolchain() {
  local archive="$build/toolchain.tar"
  toolchain="$build/arm-toolchain"
  [ ! -d "$toolchain" ] || return 0
  curl --fail --location --output "$archive" "$url" || fail "could not fetch $url"
  if [ -n "$md5" ]; then
    echo "$md5  $archive" | md5sum --check --quiet || fail "$url: expected the MD5 sum $md5"
  fi
  mkdir -p "$toolchain.part"
  tar -xf "$archive" -C "$toolchain.part" --strip-components=1 || fail "$url is no tar archive"
  mv "$toolchain.part" "$toolchain"
  rm -f "$archive"
}

find_compiler() {
  [ -z "$url" ] || fetch_toolchain
  if [ -n "$toolchain" ]; then
    [ -x "$toolchain/bin/aarch64-none-linux-gnu-g++" ] ||
      fail "expected bin/aarch64-none-linux-gnu-g++ in $toolchain: the folder of an Arm GNU toolchain"
    toolchain=$(cd "$toolchain" && pwd)
  elif ! command -v aarch64-linux-gnu-g++ >/dev/null; then
    local sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    { command -v apt-get && $sudo apt-get update && $sudo apt-get install -y --no-install-recommends g++-aarch64-linux-gnu; } ||
      fail "no cross compiler: install g++-aarch64-linux-gnu, or give --toolchain=FOLDER or --toolchain-url=URL of an Arm GNU toolchain"
  fi
}

find_compiler
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$root" -B "$build" ${generator[@]+"${generator[@]}"} -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_TOOLCHAIN_FILE="$here/arm-toolchain-$board.cmake" -DTOOLCHAIN_PATH="$toolchain" \
  ${sysroot:+-DPI_SYSROOT="$sysroot"} ${PYTHON_EXECUTABLE:+-DPYTHON_EXECUTABLE="$PYTHON_EXECUTABLE"} \
  -DEXECUTORCH_BUILD_PRESET_FILE="$root/tools/cmake/preset/llm.cmake" -DLLAMA_RUNNER_SHARED=ON
cmake --build "$build" --target llama_main extension_module_static
cp -f "$build/extension/module/libextension_module_static.a" "$build/extension/module/libextension_module.a"
success "LLaMA runner built successfully"

echo "==== Verifying Build Outputs ===="
newest="0"
verify() {
  [ -f "$build/$1" ] || fail "$1 was not built"
  success "✓ $(basename "$1") ($(du -h "$build/$1" | cut -f1))${2:-}"
}
verify examples/models/llama/llama_main
verify examples/models/llama/runner/libllama_runner.so
verify extension/module/libextension_module.a " - static library"
for program in examples/models/llama/llama_main examples/models/llama/runner/libllama_runner.so; do
  found=$(grep -aoE 'GLIBC_2\.[0-9]+' "$build/$program" | sort -Vu | tail -n 1)
  newest=$(printf '%s\n%s\n' "$newest" "${found#GLIBC_}" | sort -V | tail -n 1)
done
echo "glibc needed on the Pi: $newest (there: ldd --version)"
echo "✓ ExecuTorch cross-compilation setup completed successfully!"
