# SPDX-License-Identifier: BSD-3-Clause
"""Public packages that use ExecuTorch, unchanged, on our wheel."""
