"""The OpenAPI document is true: whatever programs send, answers are those it names."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fairduel.serve.app import create_app
from fairduel.serve.service import Service
from fairduel.serve.storage import open_database
from fake_advice import advise
from web import KEY, Made, Web, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# A stream does not end, and nothing can be asked of a poll that is gone; test_api.py tries both.
LEFT_OUT = {"GET /api/v1/polls/{slug}/events", "DELETE /api/v1/polls/{slug}"}
DOCUMENT = schemathesis.openapi.from_dict(
    create_app(Service(open_database("never-opened.db"), advise)).openapi()
)
ALL: list[Any] = [found.ok() for found in DOCUMENT.get_all_operations()]  # type: ignore[union-attr]
OPERATIONS = [operation for operation in ALL if operation.label not in LEFT_OUT]


def test_the_document_names_every_operation() -> None:
    assert {operation.label for operation in ALL} > LEFT_OUT
    assert len(OPERATIONS) > 20


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serving(str(tmp_path_factory.mktemp("openapi") / "polls.db")) as made:
        yield made


@pytest.fixture(scope="module")
def made(web: Web) -> Made:
    made = web.poll(join=True, options=[f"o{k}" for k in range(9)])
    made.vote(0, 5)
    made.settled()
    return made


def token_for(made: Made, path: str) -> str:
    """The token of somebody who may do this."""
    if path == "/api/v1/polls":
        return KEY
    if path.endswith("/join"):
        return str(made.data["join"]["token"])
    voting = ("/question", "/questions/{n}/vote", "/mine")
    who = made.data["voters"][0] if path.endswith(voting) else made.data["organiser"]
    return str(who["token"])


RIGHT = [(operation, GenerationMode.POSITIVE) for operation in OPERATIONS]
WRONG = [  # nothing can be wrong with what is sent to the others
    (operation, GenerationMode.NEGATIVE) for operation in OPERATIONS if "/api/" in operation.path
]


@pytest.mark.parametrize(
    ("operation", "mode"),
    [*RIGHT, *WRONG],
    ids=lambda part: getattr(part, "label", None) or part.value,
)
def test_answers_are_as_the_document_says(
    operation: Any, web: Web, made: Made, mode: GenerationMode
) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = made.slug
        headers = {"Authorization": f"Bearer {token_for(made, case.path)}"}
        case.call_and_validate(base_url=web.url, checks=CHECKS, headers=headers)

    check()
