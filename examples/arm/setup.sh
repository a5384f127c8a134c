#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Gets what programs for Arm's NPUs are made with, from pip: Vela, the model converter, the TOSA reference model. Writes
# setup_path.sh and setup_path.fish, to source, into arm-scratch beside this file.
#   setup.sh [options] [scratch folder]
#   --i-agree-to-the-contained-eula   taken; what needs it, the FVPs, is not downloaded by this script
#   --root-dir=FOLDER                 in the place of arm-scratch
#   --disable-ethos-u-deps, --enable-vela, --enable-baremetal-toolchain   Vela; the cross compiler
#   --enable-mlsdk-deps, --enable-model-converter, --enable-vgf-lib       the model converter and its dumper
#   --install-mlsdk-deps-with-pip     as it is; --mlsdk-manifest-url=X, --mlsdk-manifest-tag=X are ignored
#   --enable-fvps, --enable-vulkan-sdk, --enable-emulation-layer          what to get by hand is said
#   --target-toolchain=gnu            the only one
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch="$here/arm-scratch" ethos=true mlsdk=false agreed=false by_hand=()
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for argument in "$@"; do
  case $argument in
    --i-agree-to-the-contained-eula) agreed=true ;;
    --root-dir=*) scratch=${argument#*=} ;;
    --disable-ethos-u-deps) ethos=false ;;
    --enable-vela | --enable-baremetal-toolchain) ethos=true ;;
    --enable-mlsdk-deps | --enable-model-converter | --enable-vgf-lib) mlsdk=true ;;
    --install-mlsdk-deps-with-pip | --mlsdk-manifest-url=* | --mlsdk-manifest-tag=*) ;;
    --install-mlsdk-deps-from-src) fail "$argument: only pip is known, --install-mlsdk-deps-with-pip" ;;
    --enable-fvps)
      $agreed || fail "FVPs come with a licence of Arm's: give --i-agree-to-the-contained-eula before --enable-fvps"
      by_hand+=("Corstone-300 and Corstone-320 FVPs: Arm's ecosystem page of FVPs, their models' folder on PATH")
      ;;
    --enable-vulkan-sdk) by_hand+=("the Vulkan SDK: vulkan.lunarg.com, or libvulkan-dev and glslc of the system") ;;
    --enable-emulation-layer) by_hand+=("the ML emulation layer: pip install ai_ml_emulation_layer_for_vulkan") ;;
    --target-toolchain=gnu) ;;
    --target-toolchain=*) fail "$argument: expected gnu" ;;
    --help | -h) sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) fail "unknown argument $argument; --help lists them" ;;
    *) scratch=$argument ;;
  esac
done
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-aarch64 | Darwin-arm64) ;;
  *) fail "expected Linux on x86_64 or aarch64, or macOS on Apple silicon, found $(uname -s) on $(uname -m)" ;;
esac
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
tools="$scratch/tools"
python=${PYTHON_EXECUTABLE:-python3}
if $ethos || $mlsdk; then
  [ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
  "$tools/bin/python" -m pip install --quiet -r "$root/backends/arm/tools-requirements.txt"
fi
paths="$tools/bin"
for tool in arm-none-eabi-gcc glslc; do
  if found=$(command -v "$tool"); then paths="$paths:$(dirname "$found")"; fi
done
if $ethos && ! command -v arm-none-eabi-gcc >/dev/null; then
  by_hand+=("arm-none-eabi-gcc: Debian's gcc-arm-none-eabi and libstdc++-arm-none-eabi-newlib, or Arm's GNU toolchain")
fi
# The paths come behind: the environment's own python stays the first.
printf 'export PATH="$PATH":%q\n' "$paths" >"$scratch/setup_path.sh"
printf 'set -gx PATH $PATH (string split : %q)\n' "$paths" >"$scratch/setup_path.fish"
if [ -d "$tools" ]; then
  printf 'export EXECUTORCH_TOOLS_ARM=%q\n' "$tools" >>"$scratch/setup_path.sh"
  printf 'set -gx EXECUTORCH_TOOLS_ARM %q\n' "$tools" >>"$scratch/setup_path.fish"
fi
for each in ${by_hand[@]+"${by_hand[@]}"}; do echo "to get by hand: $each"; done
echo "source $scratch/setup_path.sh"
