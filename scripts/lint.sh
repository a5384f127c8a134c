#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks layout and the rules of the repository; with --fix it lays the sources out first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${VENV:-$PWD/.venv}/bin
clang_format=${CLANG_FORMAT:-$(command -v clang-format-19 || command -v clang-format || true)}
[ -n "$clang_format" ] || { echo "lint: clang-format-19 not found: run make setup, or set CLANG_FORMAT" >&2; exit 1; }
mapfile -t sources < <(git ls-files -co --exclude-standard -- '*.h' '*.cpp' ':!third-party/**' ':!src/**')

if [ "${1:-}" = --fix ]; then
  [ ${#sources[@]} = 0 ] || "$clang_format" -i "${sources[@]}"
  "$bin/ruff" format -q .
  "$bin/ruff" check -q --fix . || true
fi
status=0
[ ${#sources[@]} = 0 ] || "$clang_format" --dry-run -Werror "${sources[@]}" || status=1
"$bin/ruff" check . || status=1
"$bin/python" -m pytest -q -p no:cacheprovider test/repository --ignore=test/repository/imports_test.py || status=1
exit $status
