"""Mistakes in search spaces: each is reported with its line and the fix, before anything runs."""

from __future__ import annotations

import pytest

from gymnast.errors import GymnastError
from gymnast.sweep.space_file import parse_space

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
        "space.yaml:3: algo.lr: 3e-4 => 0 is not a number (expected a number such as 3, 1e-3 or 50k)",
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


def test_values_that_contradict_each_other_in_most_trials_are_rejected():
    steps = "  algo.n_steps: {choices: [8, 16, 32, 64, 128, 512]}\n"
    text = HEAD + steps + "  algo.batch_size: {choices: [1024, 2048, 4096]}\n"
    with pytest.raises(GymnastError, match="of 32 random assignments are not valid, such as"):
        parse_space(text, "space.yaml")


def test_a_value_that_is_only_valid_with_some_of_the_others_is_accepted():
    steps = "  algo.n_steps: {choices: [64, 128, 256, 512]}\n"
    file = parse_space(HEAD + steps + "  algo.batch_size: {choices: [256, 2048]}\n")
    assert file.space.problem({"algo.n_steps": 64, "algo.batch_size": 2048})
    assert not file.space.problem({"algo.n_steps": 512, "algo.batch_size": 2048})
