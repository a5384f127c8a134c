# SPDX-License-Identifier: BSD-3-Clause
"""The documented path of the server of language models, which is executorch.extension.llm.server."""
