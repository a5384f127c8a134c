# SPDX-License-Identifier: BSD-3-Clause
"""Tests of whole networks that run on every flow: `python -m executorch.backends.test.suite.runner models`."""
