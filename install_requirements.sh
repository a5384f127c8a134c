#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what building and exporting need, not the package, into the active Python environment; --help lists the flags.
set -e
here=$(cd "$(dirname "$0")" && pwd)
EXECUTORCH_COMMAND=$(basename "$0")
export EXECUTORCH_COMMAND
exec "${PYTHON:-python3}" "$here/scripts/install.py" --requirements-only "$@"
