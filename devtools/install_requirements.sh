#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs Model Explorer, which executorch.devtools.visualization shows graphs with.
set -euo pipefail
"${PYTHON_EXECUTABLE:-python3}" -m pip install "ai-edge-model-explorer>=0.1.25" "$@"
