"""The web application: the API, the pages, and errors as one sentence each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

import fairduel
from fairduel.errors import InputError
from fairduel.serve import api, pages, shapes
from fairduel.serve.access import HEADERS, Access, Limits, SafeHeaders, SmallBodies, in_time
from fairduel.serve.acts import Refused
from fairduel.serve.service import Service
from fairduel.serve.storage import StorageError

_LOG = logging.getLogger("fairduel.serve")


def create_app(
    service: Service,
    *,
    base_url: str | None = None,
    lan_url: str | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """Return the application of a service, which it starts and stops.

    base_url: how the outside reaches the server; default: as each request does. lan_url: how
    others on the network reach it; links that are shown on this machine begin with that.
    """
    stopped = asyncio.Event()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(service.start)
        yield
        stopped.set()
        await asyncio.to_thread(service.stop)

    app = FastAPI(
        title="fairduel",
        summary="Polls that are fair to everybody",
        version=fairduel.__version__,
        lifespan=life,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # they fetch from other hosts
        redoc_url=None,
    )
    access = Access(service, limits or Limits())
    app.state.site = api.Site(access, service, base_url and base_url.rstrip("/"), lan_url, stopped)
    app.include_router(api.api)
    # Pages are sent as they are: how short one with a token gets could tell what is in it.
    app.mount("/static", GZipMiddleware(_Static(directory=pages.FOLDER / "static")))
    app.include_router(pages.pages)
    _add_health(app, service)
    _add_errors(app)
    _describe_problems(app)
    app.add_middleware(SmallBodies)
    app.add_middleware(SafeHeaders)
    return app


class _Static(StaticFiles):
    """Scripts and styles, which browsers may keep: their addresses change with the version."""

    async def get_response(self, path: str, scope: Any) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers["cache-control"] = "public, max-age=86400"
        return answer


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", tags=["health"])
    async def healthz() -> shapes.Health:
        """Say that the server runs."""
        return shapes.Health(status="ok")

    @app.get("/readyz", tags=["health"], responses={503: api.PROBLEMS[503]})
    async def readyz() -> shapes.Health:
        """Say that the database answers, too."""
        await in_time(asyncio.to_thread(service.slugs))
        return shapes.Health(status="ok")


# Errors

_FOUND = {  # by the framework itself
    404: "there is nothing at this address: /api/v1/openapi.json lists all.",
    405: "this address does not take that method: /api/v1/openapi.json lists all.",
}


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return said(request, error)

    @app.exception_handler(InputError)
    async def wrong(request: Request, error: InputError) -> Response:
        return said(request, Refused("{reason}", 422, reason=error))

    @app.exception_handler(StorageError)
    async def down(request: Request, error: StorageError) -> Response:
        _LOG.warning("%s", error)
        why = Refused(
            "the database does not answer now: what you sent may not be saved, try again.", 503
        )
        return said(request, why)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] in ("json_invalid", "model_attributes_type", "dict_type"):
            return plain(
                request, 422, "the request is no JSON object: send one as application/json."
            )
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return plain(request, 422, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}.")

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        known = _FOUND.get(error.status_code, f"{HTTPStatus(error.status_code).description}.")
        detail = str(error.detail) if error.detail.endswith(".") else known
        return plain(request, error.status_code, detail, error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        why = Refused("the server has failed: this is a bug, and it has been logged.", 500)
        answer = said(request, why)
        answer.headers.update(HEADERS)  # the framework sends this one past all else
        return answer


def said(request: Request, why: Refused) -> Response:
    """Return a refusal: to programs as problem+json, to people as a page in their language."""
    if _for_people(request):
        return pages.error_page(request, why.status, why)
    return problem(why.status, str(why))


def plain(request: Request, status: int, detail: str, headers: Any = None) -> Response:
    """Return an error that the framework has found; a page has the status alone to say."""
    if _for_people(request):
        return pages.error_page(request, status)
    return problem(status, detail, headers)


def _for_people(request: Request) -> bool:
    return not request.url.path.startswith(("/api/", "/healthz", "/readyz"))


def problem(status: int, detail: str, headers: Any = None) -> Response:
    """Return an error as problem+json."""
    what = shapes.Problem(title=HTTPStatus(status).phrase, status=status, detail=detail)
    extra = dict(headers or {})
    if status == 401:
        extra["WWW-Authenticate"] = "Bearer"
    if status in (429, 503):
        extra["Retry-After"] = "1"
    return JSONResponse(
        what.model_dump(), status, media_type="application/problem+json", headers=extra
    )


def _describe_problems(app: FastAPI) -> None:
    """Put the shape of problems into the document, to which the responses refer."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        document = original()
        schemas = document["components"]["schemas"]
        schemas["Problem"] = shapes.Problem.model_json_schema()
        return document

    app.openapi = openapi  # type: ignore[method-assign]
