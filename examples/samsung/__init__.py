# SPDX-License-Identifier: BSD-3-Clause
"""Programs for Samsung's NPUs."""
