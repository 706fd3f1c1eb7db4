"""Progress of commands where stderr is not a terminal."""

from __future__ import annotations

import time

import pytest

from gymnast.cli import progress


def test_without_a_terminal_progress_is_a_line_from_time_to_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    with progress.progress("writing") as update:
        for done in range(1, 31):
            seconds = float(done)
            update(done, 1500)
    assert capsys.readouterr().err.splitlines() == [
        "writing: 10 of 1,500",
        "writing: 20 of 1,500",
        "writing: 30 of 1,500",
    ]
    with progress.progress("") as update:
        update(1, 2)
    assert capsys.readouterr().err == ""
