#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Puts the programs of the instrumentation tests where the test app finds them.
set -eu
project=$(cd "$(dirname "$0")" && pwd)
assets=$project/src/androidTest/assets
mkdir -p "$assets"
cp "$project/../../module/test/resources/add.pte" "$assets/"
