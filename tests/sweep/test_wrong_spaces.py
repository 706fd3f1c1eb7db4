"""Mistakes in search spaces: each is reported with its line and the fix, before anything runs."""

from __future__ import annotations

import pytest

from gymnast.errors import GymnastError
from gymnast.sweep.space_file import SAME_FOR_ALL, parse_space

HEAD = "target: CartPole-v1\nparameters:\n"
WRONG = {
    "an unknown config key": (
        HEAD + "  algo.learning_rate: {low: 1e-4, high: 1e-2}\n",
        "space.yaml:3: algo.learning_rate: unknown key; did you mean algo.lr?",
    ),
    "an unknown key of a range": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2, scale: log}\n",
        "space.yaml:3: algo.lr.scale: unknown key (known here: low, high, log, step, type, when)",
    ),
    "reversed bounds": (
        HEAD + "  algo.lr: {low: 1e-2, high: 1e-4}\n",
        "space.yaml:3: algo.lr: low 0.01 is not below high 0.0001",
    ),
    "a bound that the config rejects": (
        HEAD + "  algo.gamma: {low: 0.9, high: 1.5}\n",
        "space.yaml:3: algo.gamma: 1.5 is not accepted (expected at most 1)",
    ),
    "a choice that the config rejects": (
        HEAD + "  policy.activation: {choices: [tanh, gleu]}\n",
        "space.yaml:3: policy.activation: gleu is unknown (expected one of tanh, relu, silu, gelu, elu); "
        "did you mean gelu?",
    ),
    "a logarithm of zero": (
        HEAD + "  algo.entropy_coef: {low: 0, high: 0.1, log: true}\n",
        "space.yaml:3: algo.entropy_coef: a logarithmic range starts above 0, not at 0",
    ),
    "fractions for a whole number": (
        HEAD + "  algo.epochs: {low: 1, high: 12}\n",
        "space.yaml:3: algo.epochs: 5.4 is not a whole number (expected a whole number above 0 such as "
        "64, 50k or 2M) (or add `type: int`)",
    ),
    "a schedule with a part that has no range": (
        HEAD + '  algo.lr: {value: "{peak} -> {end}", parts: {peak: {low: 1e-4, high: 1e-2}}}\n',
        "space.yaml:3: algo.lr.value: {end} has no range in parts",
    ),
    "a schedule that is none": (
        HEAD + "  algo.lr: {choices: [3e-4 -> 0, 3e-4 => 0]}\n",
        "space.yaml:3: algo.lr: `=> 0` is not understood (expected `3e-4`, `3e-4 -> 0 cosine`",
    ),
    "a condition on a later parameter": (
        HEAD + "  algo.clip: {low: 0.1, high: 0.3, when: {algo.value_loss: huber}}\n"
        "  algo.value_loss: {choices: [mse, huber]}\n",
        "space.yaml:3: algo.clip.when.algo.value_loss: is not a parameter before this one "
        "(conditions name earlier parameters)",
    ),
    "a condition on a value that does not exist": (
        HEAD + "  algo.value_loss: {choices: [mse, huber]}\n"
        "  algo.clip: {low: 0.1, high: 0.3, when: {algo.value_loss: l1}}\n",
        "space.yaml:4: algo.clip.when.algo.value_loss: l1 is not one of its choices",
    ),
    "an unknown section": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2}\ntrails: 40\n",
        "space.yaml:4: trails: unknown key (known here: target, settings, parameters, objective, search)",
    ),
    "an unknown option of the search": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2}\nsearch: {trails: 40}\n",
        "space.yaml:4: search.trails: unknown key; did you mean trials?",
    ),
    "an unknown sampler": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2}\nsearch: {sampler: bayes}\n",
        "space.yaml:4: search.sampler bayes is unknown "
        "(expected one of tpe, surrogate, gp, cmaes, random, grid)",
    ),
    "a threshold objective without a threshold": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2}\nobjective: {kind: threshold}\n",
        "space.yaml:4: objective.threshold: is missing: the return that trials have to reach",
    ),
    "an unknown variant": (
        "target: CartPole-v1:pop\nparameters:\n  algo.lr: {low: 1e-4, high: 1e-2}\n",
        "space.yaml:1: CartPole-v1 has no variant pop (known: ppo, frugal, centered, memory, a2c, "
        "reinforce, dqn); did you mean ppo?",
    ),
    "an invalid setting": (
        "target: CartPole-v1\nsettings:\n  stop.env_stpes: 10k\n"
        "parameters:\n  algo.lr: {low: 1e-4, high: 1e-2}\n",
        "space.yaml:3: stop.env_stpes: unknown key; did you mean stop.env_steps?",
    ),
    "a key that is fixed and varies": (
        "target: CartPole-v1\nsettings:\n  algo.lr: 1e-3\n"
        "parameters:\n  algo.lr: {low: 1e-4, high: 1e-2}\n",
        "space.yaml:3: algo.lr: is a parameter as well",
    ),
    "nothing to search": (
        "target: CartPole-v1\n",
        "space.yaml: parameters: is empty: there is nothing to search",
    ),
    "no target": (
        "parameters:\n  algo.lr: {low: 1e-4, high: 1e-2}\n",
        "space.yaml: target: is missing (expected ENV or ENV:variant)",
    ),
    "a key that appears twice": (
        HEAD + "  algo.lr: {low: 1e-4, high: 1e-2}\n  algo.lr: {low: 1e-3, high: 1e-2}\n",
        "space.yaml:4: parameters.algo.lr: is given twice (line 3)",
    ),
    "a file that is not YAML": (
        "target: [CartPole-v1\n",
        "space.yaml:2: is not YAML: ",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_space_is_rejected_with_its_line_and_the_fix(mistake: str):
    text, message = WRONG[mistake]
    with pytest.raises(GymnastError) as error:
        parse_space(text, "space.yaml")
    assert str(error.value).startswith(message)
    assert message, str(error.value)


def test_all_mistakes_are_reported_at_once():
    text = HEAD + "  algo.lr: {low: 1, high: 0}\n  algo.clip: {chioces: [1, 2]}\nfoo: 1\n"
    with pytest.raises(GymnastError) as error:
        parse_space(text, "space.yaml")
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"space.yaml:{n}" for n in (5, 3, 4)]


def test_values_that_contradict_each_other_are_named():
    text = HEAD + (
        "  policy.activation: {choices: [tanh, relu]}\n"
        "  algo.n_steps: {choices: [64, 2048]}\n"
        "  env.n_envs: {choices: [1, 32]}\n"
        "  algo.batch_size: {choices: [64, 2048]}\n"
    )
    with pytest.raises(GymnastError) as error:
        parse_space(text, "space.yaml")
    assert str(error.value) == (
        "space.yaml:6: algo.batch_size: 2048 is more than a rollout holds: 1 envs x 64 steps = 64 "
        "(or write a share: 25%), with algo.n_steps 64 and env.n_envs 1"
    )


def test_a_value_that_only_the_other_parameters_make_valid_is_accepted():
    steps = "  algo.n_steps: {choices: [128, 256, 512]}\n"  # 16 copies, and 64 steps in the preset
    file = parse_space(HEAD + steps + "  algo.batch_size: {choices: [256, 2048]}\n")
    assert file.space.problem({"algo.batch_size": 2048})


WRONG_SETTINGS = """
target: CartPole-v1
settings: {seed: 3, eval: {wait: off}, eval.every: 50k env_steps, stop.env_steps: 10k}
parameters:
  seed: {choices: [1, 2]}
  env.id: {choices: [CartPole-v1, Acrobot-v1]}
  facts.threshold: {low: 1, high: 2}
  eval.episodes: {choices: [3, 4]}
  stop.eval_return: {value: "{goal}", parts: {goal: {low: 1, high: 500}}}
  checkpoint.keep: {choices: [1, 2]}
  algo.gamma: {low: 0.9, high: 1.5}
  algo.lr: {low: 1, high: 0}
"""


def test_what_cannot_vary_or_be_set_is_reported_with_the_reason_and_all_other_mistakes():
    with pytest.raises(GymnastError) as error:
        parse_space(WRONG_SETTINGS, "space.yaml")
    found = dict(line.split(": ", 2)[1:] for line in str(error.value).splitlines())
    reasons = {key.split(".")[0] if key != "env.id" else key: text for key, text in found.items()}
    for key in ("env.id", "facts", "stop", "checkpoint"):
        assert reasons[key] == f"cannot be a parameter: {SAME_FOR_ALL[key]}"
    assert found["eval.episodes"].startswith("cannot be a parameter")
    assert "cannot be set: trials wait for their scores" in found["eval.wait"]
    assert "50k env_steps is longer than a run of 10,000 env steps" in found["eval.every"]
    assert "expected at most 1" in found["algo.gamma"]
    assert "low 1 is not below high 0" in found["algo.lr"]
    lines = str(error.value).splitlines()
    assert (
        sum(line.startswith("space.yaml:") and ": seed: cannot be" in line for line in lines) == 2
    )
    assert len(lines) == 11


def test_settings_that_contradict_each_other_hide_no_mistake_of_a_parameter():
    # One copy and 64 steps are less than a batch.
    text = "target: CartPole-v1\nsettings: {env.n_envs: 1}\nparameters:\n"
    text += "  algo.gamma: {low: 0.9, high: 1.5}\n  algo.lrr: {low: 1, high: 2}\n"
    with pytest.raises(GymnastError) as error:
        parse_space(text, "space.yaml")
    keys = [line.split(": ")[1] for line in str(error.value).splitlines()]
    assert keys == ["algo.batch_size", "algo.gamma", "algo.lrr"]


def test_a_study_without_evaluations_is_refused():
    text = HEAD.replace("parameters", "settings: {eval.every: off}\nparameters")
    with pytest.raises(GymnastError, match="is off, but trials are compared by their"):
        parse_space(text + "  algo.lr: {low: 1e-4, high: 1e-2}\n")
