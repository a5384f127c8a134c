# SPDX-License-Identifier: BSD-3-Clause
"""What all that measures has in common: processes of engines that are asked in turns, and rows of results."""
