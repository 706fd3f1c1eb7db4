"""A request cannot choose a directory to write to by a setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gymnast.api import OPERATIONS
from gymnast.serving.options import ServerOptions
from gymnast.serving.user_code import code_refusal


@pytest.mark.parametrize(
    "overrides",
    [{"traces.data": "/etc"}, {"traces": {"data": "/etc"}}, ["traces.data=/etc"]],
)
def test_the_data_directory_is_refused(overrides: Any, tmp_path: Path) -> None:
    arguments = {"target": "CartPole-v1", "overrides": overrides}
    refusal = code_refusal(OPERATIONS["start"], arguments, ServerOptions(tmp_path))
    assert refusal is not None
    assert "traces.data: /etc" in refusal.message


def test_trajectories_in_the_default_directory_are_allowed(tmp_path: Path) -> None:
    arguments = {"target": "CartPole-v1", "overrides": {"traces.trajectories": True}}
    assert code_refusal(OPERATIONS["start"], arguments, ServerOptions(tmp_path)) is None
