# SPDX-License-Identifier: BSD-3-Clause
"""Whether this process is a program that reads files and runs them, and begins without PyTorch: the command
`executorch` says so before it imports anything else. `executorch.exir` then loads the compiler when one of its names
is asked for; otherwise importing it registers its operators with PyTorch at once, as users expect."""

is_on = False
