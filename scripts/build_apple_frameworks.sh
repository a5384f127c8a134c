#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the frameworks of Apple's systems, cmake-out/NAME.xcframework and NAME_debug.xcframework. Needs macOS with Xcode.
#   --Debug --Release         one of the two build types (default: both)
#   --coreml --llm --mps --optimized --quantized --torchao --xnnpack   these backends and kernels and no others (default: all)
#   --dry-run                 prints the commands, on any system
#   -h, --help                prints this
set -euo pipefail
for word in "$@"; do
  case $word in
    -h | --help) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
done
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$root/src${PYTHONPATH:+:$PYTHONPATH}
exec "${PYTHON_EXECUTABLE:-python3}" -m executorch.tools.apple build "$@"
