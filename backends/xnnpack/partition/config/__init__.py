# SPDX-License-Identifier: BSD-3-Clause
"""What XnnpackPartitioner can be told."""
