# SPDX-License-Identifier: BSD-3-Clause
"""The runtime in Java and Kotlin; Python here only tests it."""
