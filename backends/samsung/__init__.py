# SPDX-License-Identifier: BSD-3-Clause
"""Programs for Samsung's Exynos NPUs. Importing reads no environment and wants no SDK."""
