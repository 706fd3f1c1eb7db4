from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from gymnast.errors import ConfigError


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Returns a function that writes a preset file, which every command finds before the shipped ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GYMNAST_PRESETS", str(tmp_path / "mine"))

    def write(text: str, name: str = "Thing-v0") -> Path:
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))
        return path

    return write


@pytest.fixture
def problems() -> Callable[..., list[str]]:
    """Returns a function that calls another and returns the problems it raises, line by line."""

    def collect(call: Callable[..., object], *args: object, **kwargs: object) -> list[str]:
        with pytest.raises(ConfigError) as refused:
            call(*args, **kwargs)
        return refused.value.problems

    return collect
