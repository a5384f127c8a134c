# SPDX-License-Identifier: BSD-3-Clause
"""What every backend must do, in one suite. A backend says what it is in a Backend (backend.py): one of this package
in its folder's conformance.py, by which it is found, one of another project in a test that imports checks.py."""
