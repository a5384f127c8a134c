# SPDX-License-Identifier: BSD-3-Clause
"""Source compatibility: the listings of public names under test/api against what this tree declares."""
