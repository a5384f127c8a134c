#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the environment of an upstream wheel that interop tests talk to, and of transformers whose models
# tools/architectures exports; prints its interpreter.
#   make_peer.sh [version [folder]]    default: 1.4.1 in build/peer; another version in build/peer-<version>
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=${1:-1.4.1}
default=$root/build/peer
[ "$version" = 1.4.1 ] || default+=-$version
peer=${2:-$default}
mkdir -p "$(dirname "$peer")"
exec 9>"$peer.lock"
flock 9 # tests run at the same time may both want it
if [ ! -f "$peer/.complete-with-transformers" ]; then
  rm -rf "$peer"
  "${PYTHON:-python3}" -m venv "$peer"
  "$peer/bin/python" -m pip install -q --disable-pip-version-check \
    ${TORCH_INDEX_URL:+--index-url "$TORCH_INDEX_URL"} torch==2.13.0 numpy >&2
  # torch stays as it is: the wheel must not choose another build of it
  "$peer/bin/python" -m pip install -q --disable-pip-version-check torch==2.13.0 "executorch==$version" \
    transformers==5.3.0 >&2
  touch "$peer/.complete-with-transformers"
fi
echo "$peer/bin/python"
