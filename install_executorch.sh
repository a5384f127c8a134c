#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package and what it needs, into the active Python environment; --help lists the flags.
set -e
here=$(cd "$(dirname "$0")" && pwd)
EXECUTORCH_COMMAND=$(basename "$0")
export EXECUTORCH_COMMAND
exec "${PYTHON:-python3}" "$here/scripts/install.py" "$@"
