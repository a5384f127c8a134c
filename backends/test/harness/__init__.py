# SPDX-License-Identifier: BSD-3-Clause
"""`Tester`: a module taken stage by stage to a program that runs, with checks between."""

from executorch.backends.test.harness.tester import Tester

__all__ = ["Tester"]
