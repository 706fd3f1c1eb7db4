"""The text of `gymnast metrics`, of docs/metrics.md, and of the messages before and after a run."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.cli.metrics import metrics
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.metrics import docs
from gymnast.metrics.explain import MetricInfo, catalog, describe, page
from gymnast.metrics.specs import METRICS
from gymnast.records import from_json, to_json
from gymnast.text.formatting import count_noun
from gymnast.training.lifecycle.stop import stop_conditions
from gymnast.training.lifecycle.summary import (
    ChosenSetting,
    Preflight,
    end_line,
    end_text,
    preflight_text,
)


def output(*arguments: str) -> str:
    return CliRunner().invoke(metrics, arguments, catch_exceptions=False).output


def test_docs_metrics_is_up_to_date():
    """Regenerate it with `python -m gymnast.metrics.docs`."""
    assert docs.PATH.read_text(encoding="utf-8") == docs.markdown()


def test_the_list_has_every_metric_once_in_order():
    names = [line[2:].split()[0] for line in output().splitlines() if "/" in line[:20]]
    assert names == list(catalog())


def test_the_page_of_a_metric_has_its_range_and_advice():
    text = output("policy/kl")
    for words in ("nats", "never k1", "at least 0 nats", "at most 0.05 nats", "algo.target_kl"):
        assert words in text
    assert "ln n" in output("policy/entropy")
    assert "Mean raw return" in output("eval:episode/return")


@pytest.mark.parametrize("metric", catalog().values(), ids=lambda m: m.name)
def test_every_metric_has_a_page_and_plain_values(metric):
    described = describe(metric)
    assert metric.description in page(described)
    assert from_json(MetricInfo, to_json(described)) == described


def test_json_output_has_all_metrics_or_one():
    assert len(json.loads(output("--json"))) == len(catalog()) >= len(METRICS)
    assert json.loads(output("policy/clip_fraction", "--json"))[0]["healthy"] == [0, 0.5]


def test_an_unknown_metric_is_an_error_that_names_the_closest():
    with pytest.raises(UsageError, match="did you mean policy/entropy"):
        output("policy/entrpy")


def test_explaining_a_metric_imports_no_heavy_packages():
    code = (
        "import sys; from gymnast.cli.metrics import metrics\n"
        "metrics(['policy/kl'], standalone_mode=False)\n"
        "assert not {'torch', 'gymnasium', 'rich', 'numpy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


SCORE = {"mean": 498.2, "low": 495.1, "high": 500.0, "episodes": 100}
ENDED = {
    "id": "k3f9a2bc", "preset": "CartPole-v1:ppo", "path": "runs/k3f9a2bc", "solved": True,
    "reason": "solved", "score": SCORE, "threshold": 475.0, "env_steps": 61440, "seconds": 12.3,
    "best": 51200,
}  # fmt: skip


def test_the_summary_has_verdict_score_path_and_next_commands():
    text = end_text(ENDED)  # type: ignore[arg-type]
    for words in (
        "solved: ",
        "498.2",
        "[495.1, 500.0]",
        "lower bound 495.1 reached the threshold 475",
        "61,440",
    ):
        assert words in text.splitlines()[0]
    for words in ("runs/k3f9a2bc", "gymnast show k3f9a2bc", "gymnast eval k3f9a2bc:best"):
        assert words in text
    assert "gymnast resume" not in text, "there is nothing left to resume"
    assert "gymnast resume k3f9a2bc" in end_text(ENDED | {"stopped": True})  # type: ignore[arg-type]


def test_a_score_of_zero_is_displayed():
    zero = ENDED | {
        "solved": False,
        "score": {"mean": 0.0, "low": 0.0, "high": 0.0, "episodes": 20},
    }
    line = end_line(zero)  # type: ignore[arg-type]
    assert line.startswith("not solved: ")
    assert "0.00 [0.00, 0.00]" in line
    assert "lower bound 0.00 below the threshold" in line


def test_a_best_checkpoint_at_step_zero_is_listed():
    assert ":best" in end_text(ENDED | {"best": 0})  # type: ignore[arg-type]
    assert ":best" not in end_text(ENDED | {"best": None})  # type: ignore[arg-type]


def test_one_episode_has_a_score_without_an_interval():
    alone = {"mean": 10.0, "low": -math.inf, "high": math.inf, "episodes": 1}
    text = end_text(ENDED | {"solved": False, "score": alone})  # type: ignore[arg-type]
    assert "scored 10.0 over 1 episode (too few episodes), one episode has no interval" in text
    assert "inf" not in text


def test_without_threshold_or_score_the_summary_has_no_verdict():
    line = end_line(ENDED | {"solved": None, "score": None, "threshold": None})  # type: ignore[arg-type]
    assert line.startswith("done: CartPole-v1:ppo was not scored")


def test_the_preflight_text_describes_the_run():
    text = preflight_text(
        Preflight(
            preset="CartPole-v1:ppo",
            seed=0,
            n_envs=8,
            observation="Box(4)",
            action="Discrete(2): left, right",
            network="64-64 tanh",
            parameters=9155,
            budget={"env_steps": 100_000, "seconds": 600},
            threshold=475.0,
            settings=(ChosenSetting("algo.lr", "3e-3 -> 0", "--set"),),
            warnings=("eval.every is longer than the budget",),
        )
    )
    for words in ("seed 0", "Box(4)", "9,155 parameters", "100,000 env steps or 10 min", "475"):
        assert words in text
    assert "algo.lr  3e-3 -> 0  --set" in text
    assert "warning: eval.every is longer" in text


def test_the_preflight_text_says_if_there_is_no_preset():
    text = preflight_text(Preflight("MountainCarContinuous-v0", has_preset=False, seed=0))
    assert "no preset" in text
    assert "budget    none" in text


def test_a_run_that_was_stopped_above_its_threshold_is_not_confirmed():
    """Only a run that is not stopped early is scored on held-out seeds."""
    stopped = ENDED | {"solved": False, "confirmed": False, "stopped": True}
    line = end_line(stopped)  # type: ignore[arg-type]
    assert line.startswith("not confirmed: ")
    assert "stopped before it was scored on held-out seeds" in line
    assert end_line(stopped | {"threshold": 499.0}).startswith("not solved: ")  # type: ignore[arg-type]
    doubtful = end_line(ENDED | {"solved": False, "confirmed": True, "doubts": ["it is easy"]})  # type: ignore[arg-type]
    assert doubtful.startswith("doubtful: ")
    assert doubtful.endswith("; but it is easy")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "when the mean return of an evaluation reaches 495"),
        ({"stop.solved": "on"}, "when solved in an evaluation or when the mean return"),
        ({"stop.eval_return": "off", "stop.plateau": 1}, "after 1 evaluation without improvement"),
        ({"stop.train_return": 480}, "when the mean return of training episodes reaches 480"),
    ],
)
def test_the_preflight_text_lists_the_stop_conditions(settings: dict[str, Any], expected: str):
    cfg = resolve("CartPole-v1", settings).config
    text = preflight_text(
        Preflight(threshold=cfg.facts.threshold, stops=tuple(stop_conditions(cfg)))
    )
    assert "goal      solved when the lower bound of the score reaches 475.0" in text
    assert expected in next(line for line in text.splitlines() if "stops" in line)


@pytest.mark.parametrize(
    ("n", "expected"), [(0, "0 seeds"), (1, "1 seed"), (2, "2 seeds"), (1000, "1,000 seeds")]
)
def test_counts_use_singular_and_plural(n: int, expected: str):
    assert count_noun(n, "seed") == expected
    assert count_noun(n, "match", "matches").endswith("match" if n == 1 else "matches")
