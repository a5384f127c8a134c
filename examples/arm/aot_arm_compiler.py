# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`python -m examples.arm.aot_arm_compiler`: executorch.backends.arm.scripts.aot_arm_compiler."""

import sys
import warnings

from executorch.backends.arm.scripts.aot_arm_compiler import main

if __name__ == "__main__":
    warnings.warn(
        "examples/arm/aot_arm_compiler.py is executorch.backends.arm.scripts.aot_arm_compiler",
        DeprecationWarning,
        stacklevel=1,
    )
    sys.exit(main())
