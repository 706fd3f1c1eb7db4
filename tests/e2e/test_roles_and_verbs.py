"""Commands on runs with several roles: single-agent commands reject them, the others support them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import gymnast
from gymnast.check.presets import check_presets
from gymnast.cli.net import net
from gymnast.cli.play import play
from gymnast.cli.runs import show
from gymnast.cli.tune import tune
from gymnast.errors import GymnastError
from gymnast.runs.run import Run
from tests.small_runs import SMALL

TINY = SMALL | {
    "stop.env_steps": 128,
    "env.n_envs": 4,
    "env.kwargs": {"time_limit": 9},
    "algo.n_steps": 16,
    "eval.every": "64 env_steps",
    "league.opponents": ["weak"],
}


@pytest.fixture(scope="session")
def tag(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs = Path(tmp_path_factory.mktemp("roles")) / "runs"
    return gymnast.train("tag", overrides=TINY, quiet=True, runs_dir=runs)


def typed(verb: click.Command, *words: str, runs: Path | None = None) -> Any:
    at = ["--runs", str(runs)] if runs else []
    return CliRunner().invoke(verb, [*words, *at], standalone_mode=False)


@pytest.mark.parametrize(
    ("verb", "words", "instead"),
    [
        (play, ["RUN"], "gymnast video"),
        (play, ["tag", "--random"], "gymnast video"),
        (tune, ["envs", "tag"], "gymnast train"),
    ],
    ids=["play a run", "play", "tune"],
)
def test_a_single_agent_command_rejects_roles_and_names_an_alternative(
    tag: Run, verb: click.Command, words: list[str], instead: str
):
    words = [tag.id if word == "RUN" else word for word in words]
    refused = typed(verb, *words, runs=tag.path.parent).exception
    assert isinstance(refused, GymnastError)
    assert "has several roles" in refused.message
    assert instead in refused.fix


def test_show_names_the_command_that_films_matches(tag: Run):
    page = typed(show, tag.id, runs=tag.path.parent).stdout
    assert f"gymnast video {tag.id}" in page
    assert "gymnast play" not in page


def test_single_agent_evaluation_rejects_roles(tag: Run):
    with pytest.raises(GymnastError, match="tag has several roles"):
        gymnast.evaluate(tag)


def test_a_stored_policy_is_loaded_by_its_role(tag: Run):
    with pytest.raises(GymnastError, match="no policy for the role 'agent'") as refused:
        gymnast.load(tag)
    assert refused.value.fix == "choose one of: seeker, hider"
    obs = gymnast.load(tag, role="hider").policy.obs_space
    assert obs.shape == gymnast.load(tag, role="seeker").policy.obs_space.shape


@pytest.mark.usefixtures("tasks_here")
def test_net_shows_a_network_per_learned_role(tag: Run):
    page = typed(net, tag.id, runs=tag.path.parent)
    assert page.exception is None, page.exception
    lines = page.stdout.splitlines()
    assert lines.count("seeker") == lines.count("hider") == 1
    assert page.stdout.count("actor.0.weight") == 2
    alone = typed(
        net, "tag:seeker-vs-scripted", "--set", "env.n_envs=4", "--set", "algo.batch_size=64"
    )
    assert alone.exception is None, alone.exception
    assert alone.stdout.count("actor.0.weight") == 1
    assert "(uniform)" in alone.stdout


@pytest.mark.slow
def test_a_preset_with_several_roles_is_trained_evaluated_and_replayed():
    (tried,) = check_presets(["tag:selfplay"])
    assert (tried.verdict, tried.reason) == ("passed", "")
