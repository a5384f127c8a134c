# SPDX-License-Identifier: BSD-3-Clause
"""The one re-trace of the compiler: a torch.export program in, a functional edge program out."""
