# SPDX-License-Identifier: BSD-3-Clause
"""What the commands take, one module each: its docstring is the help, `add_arguments(parser)` the options.

Nothing here imports what does the work, so that `--help` and completion answer at once.
"""
