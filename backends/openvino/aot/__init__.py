# SPDX-License-Identifier: BSD-3-Clause
"""What the backend takes, what it is told, and how OpenVINO compiles it."""
