# SPDX-License-Identifier: BSD-3-Clause
"""Training in Python: `executorch.extension.training` has the names."""
