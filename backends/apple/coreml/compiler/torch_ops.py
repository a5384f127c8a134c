# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The documented place of what aot/torch_ops.py has: importing this registers it."""

from executorch.backends.apple.coreml.aot.torch_ops import register

register()
