# SPDX-License-Identifier: BSD-3-Clause
"""Which calls are delegated."""
