# SPDX-License-Identifier: BSD-3-Clause
"""Small backends and partitioners that show how to write one; the tests of exir/backend run on them."""
