"""Hosts within the process of the test, instead of processes."""

from __future__ import annotations

import pytest

from tests.collect.shards.carriers import HereCarrier


@pytest.fixture
def hosts_here(monkeypatch: pytest.MonkeyPatch) -> list[HereCarrier]:
    """Runs hosts within this process. Returns the carriers that were opened, of which the next one is put
    first by a test that wants a special one."""
    carriers: list[HereCarrier] = []
    planned: list[HereCarrier] = []

    def open_carrier(_: object) -> HereCarrier:
        carrier = planned.pop(0) if planned else HereCarrier(seed=len(carriers))
        carriers.append(carrier)
        return carrier

    monkeypatch.setattr("gymnast.collect.shards.open.open_carrier", open_carrier)
    return carriers
