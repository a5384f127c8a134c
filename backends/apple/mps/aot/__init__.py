# SPDX-License-Identifier: BSD-3-Clause
"""What the backend takes, and how it becomes a payload."""
