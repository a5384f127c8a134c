# SPDX-License-Identifier: BSD-3-Clause
"""Graph transformations that backends share."""
