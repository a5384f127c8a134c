# SPDX-License-Identifier: BSD-3-Clause
"""Which calls go to the NPU."""
