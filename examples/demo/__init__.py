# SPDX-License-Identifier: BSD-3-Clause
"""Models from PyTorch to C++, step by step, with times: `python -m executorch.examples.demo.demo --model mv2`."""
