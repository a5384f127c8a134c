# SPDX-License-Identifier: BSD-3-Clause
"""A server with OpenAI's routes for language models: `executorch serve --help`."""
