"""Presets reach their stored results. Slow: these are complete training runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import run_json

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    "preset",
    [
        "CartPole-v1:ppo",
        "CartPole-v1:a2c",
        "CartPole-v1:reinforce",
        "CartPole-v1:dqn",
        "Acrobot-v1:ppo",
    ],
)
def test_a_stored_result_can_be_reproduced(preset: str, tmp_path: Path):
    result = run_json(tmp_path, "reproduce", preset, "--seeds", "2", "--jobs", "2")
    assert result["comparison"]["holds"], result
    assert result["now"]["solved"] == 2
