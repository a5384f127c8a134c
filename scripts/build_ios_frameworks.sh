#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The name that one table of the documents has for build_apple_frameworks.sh.
exec "$(dirname "${BASH_SOURCE[0]}")/build_apple_frameworks.sh" "$@"
