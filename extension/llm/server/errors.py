# SPDX-License-Identifier: BSD-3-Clause
"""The error that a client gets when its request is not served, in OpenAI's form."""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """Becomes an answer of this status to this client."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        status: int = 400,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.param, self.status, self.code = param, status, code

    @classmethod
    def of(cls, problem: Exception) -> RequestError:
        """What fails while an answer is made is the server's."""
        return problem if isinstance(problem, cls) else cls(str(problem), status=500)

    def body(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": str(self),
                "type": kind,
                "param": self.param,
                "code": self.code,
            }
        }
