# SPDX-License-Identifier: BSD-3-Clause
"""The requirement rows of test/requirements and the tests that prove them."""
