# SPDX-License-Identifier: BSD-3-Clause
"""What runs inside of an engine's process. Imports nothing of this repository but the public package `executorch`, so
that the same code asks every engine under whatever interpreter has it: processes import it as `engines`."""
