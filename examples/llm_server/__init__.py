# SPDX-License-Identifier: BSD-3-Clause
"""A server with OpenAI's routes for language models: python -m executorch.examples.llm_server --help."""
