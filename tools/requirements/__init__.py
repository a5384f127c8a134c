# SPDX-License-Identifier: BSD-3-Clause
"""The requirement rows of docs/requirements and the tests that prove them."""
