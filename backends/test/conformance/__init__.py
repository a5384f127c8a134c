# SPDX-License-Identifier: BSD-3-Clause
"""What every backend must do, in one suite. A backend's folder says in test/conformance.py what it is (`BACKENDS`, see
backend.py) and is found by that. Run one alone: `pytest backends/test/conformance -k SkeletonBackend`."""
