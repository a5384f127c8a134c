#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes a folder with a Debian in it whose Mesa runs VGF files under Arm's ML emulation layer. Tests of VGF read it from
# EXECUTORCH_ARM_EMULATION. Needs root and debootstrap.
#   emulation_root.sh FOLDER
#   --help
set -euo pipefail
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
case ${1:-} in
  --help | -h) sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) fail "unknown argument $1; --help lists them" ;;
  "") fail "expected the folder to make" ;;
esac
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
debootstrap --variant=minbase --include=mesa-vulkan-drivers,libvulkan1 trixie "$1"
"${PYTHON_EXECUTABLE:-python3}" -m pip install --quiet --no-deps --target "$1/opt/ml" \
  ai_ml_emulation_layer_for_vulkan==0.11.0 ai_ml_sdk_scenario_runner==0.11.0
