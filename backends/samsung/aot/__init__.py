# SPDX-License-Identifier: BSD-3-Clause
"""What the NPU takes, and how it becomes a graph for Samsung's compiler."""
