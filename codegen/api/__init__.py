# SPDX-License-Identifier: BSD-3-Clause
"""Names of C++ types, on torchgen's classes."""
