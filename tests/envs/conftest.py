"""Backends with four copies of `Shaky`. The workers serve all tests: starting some costs a second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gymnast.import_object import ALLOW_VARIABLE
from tests.envs.backends import OURS, VECTORS, inprocess_backend, process_backend, vector_backend


@pytest.fixture(scope="package", autouse=True)
def allowed_code() -> Iterator[None]:
    """Tests of this folder create environments and networks of their own without resolving a preset."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ALLOW_VARIABLE, "1")
        yield


@pytest.fixture(scope="session")
def workers() -> Iterator[Any]:
    opened = process_backend()
    yield opened
    opened.close()


@pytest.fixture(params=[*OURS, *VECTORS])
def envs(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "in workers":
        yield request.getfixturevalue("workers")
        return
    opened = (
        inprocess_backend()
        if request.param == "in process"
        else vector_backend(VECTORS[request.param])
    )
    yield opened
    opened.close()
