# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the interfaces: of Python's by autodoc, of C++'s by what Doxygen reads of headers."""
