# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings for the site; `python -m executorch.tools.site` runs Sphinx with them."""

from pathlib import Path

from executorch.version import __version__

project = "ExecuTorch"
author = "the contributors"
release = version = __version__
language = "en"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "executorch.tools.site.extension",
]
root_doc = "index"
suppress_warnings = ["misc.highlighting_failure"]  # Pygments does not know all Java

myst_heading_anchors = 6
myst_url_schemes = ["http", "https", "mailto", "source"]

html_theme = "furo"
html_title = f"ExecuTorch {version}"
html_static_path = [str(Path(__file__).resolve().parent / "static")]
html_css_files = ["site.css"]
html_js_files = ["search.js", "versions.js"]
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
