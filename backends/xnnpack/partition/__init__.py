# SPDX-License-Identifier: BSD-3-Clause
"""The partitioner under its documented path."""
