"""`--track` and `export` on the command line, and Ctrl-C in a terminal, which reaches every process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from gymnast.runs.run import Run
from tests.e2e.commands import read_json, small_settings
from tests.small_runs import rows
from tests.tracker_files import exit_codes, rows_as_bits, wandb_files, wandb_rows
from tests.waiting import PATIENCE


def test_ctrl_c_in_a_terminal_finishes_the_tracker_and_its_link_is_printed_once(tmp_path: Path):
    words = ["train", "CartPole-v1", "--track", "wandb", "--name", "long", "--env-steps", "50M"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gymnast", *words, *small_settings(), "--runs", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [process.stdout.readline()]
        while not lines[-1].startswith("tracking"):
            assert lines[-1], process.stderr.read()
            lines.append(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        printed, wrong = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert not wrong
    shown = read_json(tmp_path, "show", "long")
    (file,) = wandb_files(Path(shown["path"]) / "wandb")
    assert "".join([*lines, printed]).count(str(file.parent)) == 1
    assert exit_codes(file) == [130]
    recorded = rows(Run(shown["path"]))
    assert len(recorded) > 1
    assert rows_as_bits(wandb_rows(file)) == rows_as_bits(recorded)
    done = read_json(tmp_path, "export", "long", "--to", "csv", "--out", str(tmp_path / "rows.csv"))
    assert done["rows"] == len(recorded)
