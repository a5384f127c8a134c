#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Exports a model for MediaTek's NPUs into a folder named after it, in the folder that this is called in.
set -euo pipefail

if [ $# -lt 1 ]; then
  echo "usage: export_oss.sh MODEL [-a FOLDER] [-p PRECISION]" >&2
  exit 1
fi
exec "${PYTHON:-python3}" -m executorch.examples.mediatek.model_export_scripts.oss "$@"
