#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds with the minsize preset and reports what the core adds, file by file, and what each operator costs, against
# their limits.
# usage: test/size/size.sh [BUILD_DIR]
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="${1:-$root/cmake-out-minsize}"
cd "$root"
cmake --preset minsize -B "$build" >/dev/null
cmake --build "$build" --target size_test size_test_empty portable_kernels
# The program that is measured does load and run a file.
"$build/size_test" test/fuzz/corpus/pte/symbolic.pte
python="$root/.venv/bin/python"
[ -x "$python" ] || python=python3
"$python" test/size/report.py "$build"
exec "$python" test/size/op_cost.py "$build"
