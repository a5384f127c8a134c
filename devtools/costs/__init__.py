# SPDX-License-Identifier: BSD-3-Clause
"""What operators have to do, how fast this machine does it, and so how long a program takes, without running it."""
