"""W&B sweep configs become search spaces with the same keys and values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gymnast.errors import ConfigError, UsageError
from gymnast.sweep.parameter import Choices, Range
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.wandb_space import convert_sweep

SWEEP = """\
program: CartPole-v1:ppo
method: bayes
metric: {name: "eval:episode/return", goal: maximize}
run_cap: 30
early_terminate: {type: hyperband, min_iter: 3}
parameters:
  algo.lr: {distribution: log_uniform_values, min: 1e-5, max: 1e-2}
  algo.entropy_coef: {values: [0.0, 0.01, 0.01 -> 0]}
  algo:
    parameters:
      clip: {min: 0.1, max: 0.3}
      epochs: {min: 2, max: 12}
      gamma: {distribution: log_uniform, min: -0.1, max: -0.001}
  policy.activation: {value: relu}
  policy.hidden: {values: [[32], [64, 64]]}
  algo.gae_lambda: {distribution: q_uniform, min: 0.8, max: 1.0, q: 0.05}
"""


def test_a_converted_sweep_has_the_ranges_choices_and_constants_of_the_original():
    read = parse_space(convert_sweep(SWEEP, "sweep.yaml"), "space.yaml")
    space = read.space
    assert space.target == "CartPole-v1:ppo"
    assert space.settings == {"policy.activation": "relu"}
    assert space["algo.lr"] == Range("algo.lr", 1e-5, 1e-2, log=True)
    assert space["algo.clip"] == Range("algo.clip", 0.1, 0.3)
    assert space["algo.epochs"] == Range("algo.epochs", 2, 12, whole=True)
    assert space["algo.gae_lambda"] == Range("algo.gae_lambda", 0.8, 1.0, step=0.05)
    assert space["algo.entropy_coef"] == Choices("algo.entropy_coef", [0.0, 0.01, "0.01 -> 0"])
    assert space["policy.hidden"] == Choices("policy.hidden", [[32], [64, 64]])
    gamma: Any = space["algo.gamma"]
    assert (gamma.low, gamma.high) == pytest.approx((math.exp(-0.1), math.exp(-0.001)), rel=1e-5)
    assert gamma.log
    assert read.objective.kind == "score"
    assert (read.search["sampler"], read.search["trials"]) == ("tpe", 30)


@pytest.mark.parametrize(("method", "sampler"), [("random", "random"), ("grid", "grid")])
def test_the_method_of_a_sweep_becomes_the_sampler(method: str, sampler: str):
    text = f"method: {method}\nparameters: {{algo.epochs: {{values: [4, 8]}}}}\n"
    read = parse_space(convert_sweep(text, "sweep.yaml", "CartPole-v1"), "space.yaml")
    assert read.search["sampler"] == sampler
    assert read.objective.kind == "area"  # another metric, or none, has no counterpart


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "is no sweep config"),
        ("method: grid", "has no parameters"),
        (
            "parameters: {algo.lr: {values: [1, 2]}}\nmetod: grid",
            "sweep.yaml:2: metod: unknown key",
        ),
        (
            "parameters:\n  algo.lr: {distribution: normal, mu: 0, sigma: 1}",
            "sweep.yaml:2: algo.lr: the distribution normal: only W&B samples from it",
        ),
        (
            "parameters:\n  algo.lr: {values: [1, 2], probabilities: [0.9, 0.1]}",
            "sweep.yaml:2: algo.lr: probabilities: only W&B samples from it",
        ),
        ("parameters:\n  algo.lr: {min: 1}", "sweep.yaml:2: algo.lr: has no values"),
        ("a: 1\na: 2\nparameters: {algo.lr: {value: 1}}", "is given twice"),
    ],
    ids=lambda value: value[:30],
)
def test_mistakes_are_reported_with_their_line(text: str, message: str):
    with pytest.raises(ConfigError) as raised:
        convert_sweep(text, "sweep.yaml", "CartPole-v1")
    assert message in str(raised.value)


@pytest.mark.parametrize("program", ["", "program: train.py\n"])
def test_a_sweep_of_another_program_needs_an_environment(program: str):
    with pytest.raises(UsageError, match="does not name an environment"):
        convert_sweep(f"{program}parameters: {{algo.lr: {{values: [1, 2]}}}}", "sweep.yaml")
