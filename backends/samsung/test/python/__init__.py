# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins of the two modules over Samsung's SDK, for tests: they record what they are asked."""

LOG: list[list[object]] = []
