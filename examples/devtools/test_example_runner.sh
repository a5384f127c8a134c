#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds example_runner, exports MobileNetV2 as a bundled program, runs and verifies it. Run it in the root of the
# repository, with the Python that has executorch.
set -euo pipefail
cd "$(dirname "$0")/../.."
./examples/devtools/build_example_runner.sh "$@"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"${PYTHON_EXECUTABLE:-python3}" -m executorch.examples.devtools.scripts.export_bundled_program -m mv2 -d "$work"
./cmake-out/examples/devtools/example_runner --bundled_program_path "$work/mv2_bundled.bpte" --output_verification \
  --etdump_path "$work/etdump.etdp"
echo "Success!"
