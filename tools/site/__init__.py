# SPDX-License-Identifier: BSD-3-Clause
"""The site: this repository's own text as static pages with a search, made by Sphinx (docs/design/090-site.md)."""
