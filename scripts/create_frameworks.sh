#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Merges static libraries of several platforms into frameworks.
#   --directory=DIR   with lib/*.a of one platform: TREE/PLATFORM/TYPE; again for each platform
#   --framework=target:lib1.a,lib2.a[:headers:swiftmodule]   again for each framework
#   --output=DIR      default cmake-out
#   --dry-run         prints the commands
#   -h, --help        prints this
set -euo pipefail
case ${1:-} in
  -h | --help) sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$root/src${PYTHONPATH:+:$PYTHONPATH}
exec "${PYTHON_EXECUTABLE:-python3}" -m executorch.tools.apple create "$@"
