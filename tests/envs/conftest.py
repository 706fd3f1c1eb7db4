"""Backends with four copies of `Shaky`. The workers serve all tests: starting some costs a second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.envs.backends import OURS, VECTORS, in_process, in_workers, vectorized


@pytest.fixture(scope="session")
def workers() -> Iterator[Any]:
    opened = in_workers()
    yield opened
    opened.close()


@pytest.fixture(params=[*OURS, *VECTORS])
def envs(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "in workers":
        yield request.getfixturevalue("workers")
        return
    opened = in_process() if request.param == "in process" else vectorized(VECTORS[request.param])
    yield opened
    opened.close()
