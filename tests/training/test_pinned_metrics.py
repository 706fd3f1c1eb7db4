"""`--pin`: invalid metrics are rejected before anything is trained."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.training.foreground import check_pinned


def test_every_metric_of_a_row_can_be_pinned_and_a_misspelling_gets_a_suggestion():
    own = {"metrics": {"env/tilt": {"source": "tilt", "description": "How far it leans."}}}
    config = resolve("CartPole-v1:ppo", own).config
    scoped = ("eval:episode/iqm", "rollout/action_share.1", "hyper/lr", "env/tilt")
    check_pinned(("policy/kl", *scoped), config)
    with pytest.raises(UsageError, match="did you mean policy/kl"):
        check_pinned(("policy/kll",), config)


@pytest.mark.parametrize("how", [["--detach"], ["--seeds", "2"]])
def test_a_run_without_a_console_accepts_no_pinned_metrics(how: list[str], tmp_path):
    words = ["train", "CartPole-v1", "--pin", "policy/kl", *how, "--runs", str(tmp_path / "runs")]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "runs").exists()
