# SPDX-License-Identifier: BSD-3-Clause
"""What `doctor` finds by running a program, and the parts of the model that findings are about."""
