#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The documents' other name of build_android_library.sh.
exec sh "$(dirname "$0")/build_android_library.sh" "$@"
