# SPDX-License-Identifier: BSD-3-Clause
"""Full runs and their result tables."""
