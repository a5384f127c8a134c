# SPDX-License-Identifier: BSD-3-Clause
"""The chat page: its files, and the headers that let a browser load these and nothing else."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from executorch.devtools.commands import output

HERE = Path(__file__).parent
SCRIPTS = ("attach", "chat", "conversation", "list", "markdown", "server", "store", "talk")
FILES = {
    "chat.css": HERE / "chat.css",
    "marked.js": HERE / "marked.js",
    "page.css": Path(output.__file__).with_name("page.css"),  # of all our pages
    **{f"{name}.js": HERE / f"{name}.js" for name in SCRIPTS},
}
TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript"}
_POLICY = (
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
    "img-src data:", "media-src data:", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "; ".join(_POLICY),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _sent(path: Path) -> Response:
    return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)


async def _page(request: Request) -> Response:
    return _sent(HERE / "index.html")


async def _file(request: Request) -> Response:
    path = FILES.get(request.path_params["name"])
    if path is None:
        raise HTTPException(404, f"expected one of {', '.join(FILES)}")
    return _sent(path)


def routes() -> list[Route]:
    return [Route("/", _page), Route("/page/{name}", _file)]
