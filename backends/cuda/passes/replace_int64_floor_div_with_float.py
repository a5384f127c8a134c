# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The documented name; the rewrite is for every device."""

from executorch.backends.aoti.passes.replace_int64_floor_div_with_float import (
    ReplaceInt64FloorDivWithFloatPass as ReplaceInt64FloorDivWithFloatPass,
)
