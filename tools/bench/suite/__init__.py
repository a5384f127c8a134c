# SPDX-License-Identifier: BSD-3-Clause
"""Many networks at true shapes, each on several engines in turns: where is ours slower than the best of the others?"""
