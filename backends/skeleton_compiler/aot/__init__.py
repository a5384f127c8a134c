# SPDX-License-Identifier: BSD-3-Clause
"""What the backend takes, and how the vendor's compiler is told of it."""
