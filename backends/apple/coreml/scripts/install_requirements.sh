#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what exporting for Core ML needs: coremltools, which pip install '.[coreml]' in a clone brings, too.
set -euo pipefail

if [[ $# -gt 0 ]]; then
  echo "usage: install_requirements.sh: installs coremltools into the environment of python3; it takes no options"
  [[ "$1" == "-h" || "$1" == "--help" ]] && exit 0
  exit 1
fi
apple=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec python3 -m pip install -r "$apple/requirements.txt"
