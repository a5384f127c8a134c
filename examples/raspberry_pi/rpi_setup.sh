#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The other documented name of setup.sh.
exec "$(dirname "${BASH_SOURCE[0]}")/setup.sh" "$@"
