"""Permission to import the networks of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gymnast.import_object import ALLOW_VARIABLE


@pytest.fixture(scope="module", autouse=True)
def allowed_code() -> Iterator[None]:
    """Tests of this folder create environments and networks of their own without resolving a preset."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ALLOW_VARIABLE, "1")
        yield
