# SPDX-License-Identifier: BSD-3-Clause
"""Size and dependencies of the core."""
