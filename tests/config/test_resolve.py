from __future__ import annotations

import json

import pytest

from gymnast.config.live import apply_assignments
from gymnast.config.numbers import Share
from gymnast.config.resolve import apply_overrides, diff, load, parse_assignment, resolve, save
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.stop import limits_after
from gymnast.config.serialize import to_plain
from gymnast.errors import ConfigError

THING = """
    facts:
      threshold: 5
    policy:
      hidden: [32]
    stop:
      env_steps: 10k
    env:
      kwargs: {size: 4, wind: 1}
    variants:
      ppo:
        algo:
          lr: {0%: 1e-3, 100%: 0}
      windy:
        extends: ppo
        env:
          kwargs: {wind: 9}
        algo:
          gamma: 0.9
"""


def test_later_layers_override_single_values_and_every_value_has_its_origin(preset):
    preset(THING)
    found = resolve("Thing-v0:windy", {"algo.gae_lambda": 0.5})
    assert found.preset == "Thing-v0:windy"
    assert found.has_preset
    assert found.config.env.kwargs == {"size": 4, "wind": 9}
    assert found.config.policy.hidden == (32,)
    file = "mine/Thing-v0.yaml"
    expected = {
        "env.id": "name",
        "env.kwargs.size": f"{file}:8",
        "env.kwargs.wind": f"variant windy, {file}:16",
        "policy.hidden": f"{file}:4",
        "algo.name": "variant ppo",
        "algo.lr": f"variant ppo, {file}:12",
        "algo.gamma": f"variant windy, {file}:18",
        "algo.gae_lambda": "--set",
        "algo.epochs": "default",
    }
    assert {key: found.provenance[key] for key in expected} == expected


def test_a_schedule_is_replaced_not_merged(preset):
    preset(THING)
    found = resolve("Thing-v0", {"algo.lr": {"from": 1, "to": 2}})
    assert str(found.config.algo.lr) == "1 -> 2"


NAMED = """
    variants:
      ppo:
        shaping:
          count: {weight: 2, kwargs: {bins: 5}}
          late: {}
      less:
        extends: ppo
        shaping:
          count:
            weight: 1
          late: {}
"""


def test_settings_under_a_user_chosen_name_are_overridden_one_by_one(preset):
    preset(NAMED)
    found = resolve("Thing-v0:less", {"shaping.late.kwargs": {"after": 9}, "shaping.count": {}})
    terms = found.config.shaping
    assert list(terms) == ["count", "late"]
    assert (str(terms["count"].weight), terms["count"].kwargs) == ("1", {"bins": 5})
    assert (str(terms["late"].weight), terms["late"].kwargs) == ("1", {"after": 9})
    assert found.provenance["shaping.count.weight"] == "variant less, mine/Thing-v0.yaml:10"
    assert found.provenance["shaping.count.kwargs.bins"] == "variant ppo, mine/Thing-v0.yaml:4"
    assert found.provenance["shaping.late.kwargs.after"] == "--set"
    assert load(save(found.config)) == found.config


def test_a_mistake_under_a_user_chosen_name_is_reported_with_its_line(preset, problems):
    preset("variants:\n  ppo:\n    shaping:\n      count: {}\n      cuont: {weight: 1}\n")
    (problem,) = problems(resolve, "Thing-v0")
    assert problem.startswith(
        "mine/Thing-v0.yaml:5: shaping.cuont: unknown shaping term cuont (known: "
    )
    assert "did you mean count" in problem
    preset("variants:\n  ppo:\n    shaping:\n      count: {wieght: 1}\n")
    (problem,) = problems(resolve, "Thing-v0")
    assert problem.startswith("mine/Thing-v0.yaml:4: shaping.count.wieght: unknown key")
    assert "did you mean shaping.count.weight?" in problem


def test_any_environment_resolves_without_a_preset():
    found = resolve("Some/Unheard-of-v7")
    assert not found.has_preset
    assert found.preset == "Some/Unheard-of-v7:ppo"
    assert found.config.env.id == "Some/Unheard-of-v7"
    assert found.config.stop.limits()


def test_an_environment_class_may_be_named_by_its_import_path():
    assert resolve("py:my.games:Snake").config.env.id == "py:my.games:Snake"
    assert resolve("py:my.games:Snake:ppo").preset == "py:my.games:Snake:ppo"


def test_a_budget_in_the_overrides_replaces_all_other_budgets():
    assert resolve("CartPole-v1", {"stop.minutes": 5}).config.stop.limits() == {"seconds": 300}
    both = {"stop": {"updates": 7, "rollouts": 9}}
    assert resolve("CartPole-v1", both).config.stop.limits() == {"updates": 7, "rollouts": 9}


def test_percentages_without_a_budget_are_rejected_with_the_fix(problems):
    found = problems(resolve, "CartPole-v1", {"stop.env_steps": "off"})
    assert any("algo.lr" in p and "stop.env_steps" in p for p in found)
    assert any("checkpoint.every" in p for p in found)
    found = problems(resolve, "CartPole-v1", {"algo.lr": "1 -> 0 clock episodes"})
    assert "budget on episodes" in found[0]


def test_all_mistakes_are_reported_at_once_with_line_key_expected_value_and_closest_key(
    preset, problems
):
    preset(
        """
        polcy: {hidden: [64]}
        eval:
          every: 5000
          seed: -1
        checkpoint:
          keep:
        variants:
          ppo:
            algo:
              learning_rate: 3e-4
              gae_lamda: 0.9
              gamma: 1.5
              epochs: 0.5
              value_loss: huge
              clip: true
              batch_size: 1e9
        """
    )
    found = problems(resolve, "Thing-v0", {"algo.foo": 1, "traces.train": "200%", "stop": 3})
    file = "mine/Thing-v0.yaml"
    for line, expected in {
        1: "polcy: unknown key; did you mean policy?",
        3: "eval.every: which clock? write `5000 env_steps`",
        4: "eval.seed: -1 is too small (expected a whole number from 0)",
        6: "checkpoint.keep: is empty (expected a whole number",
        10: "algo.learning_rate: unknown key; did you mean algo.lr?",
        11: "algo.gae_lamda: unknown key; did you mean algo.gae_lambda?",
        12: "algo.gamma: 1.5 is not accepted (expected at most 1)",
        13: "algo.epochs: 0.5 is not a whole number (expected",
        14: "algo.value_loss: huge is unknown (expected one of mse, huber); did you mean huber?",
        15: "algo.clip: True is not a number (expected",
    }.items():
        assert any(p.startswith(f"{file}:{line}: {expected}") for p in found), (line, found)
    assert "--set: algo.foo: unknown key" in " ".join(found)
    assert any(p.startswith("--set: traces.train: 200% is out of range") for p in found)
    assert any(p.startswith("--set: stop: 3 is not a section") for p in found)
    assert len(found) == 13


def test_no_unknown_key_is_silently_ignored(problems):  # trap 36
    for key, meant in {
        "algo.learning_rate": "algo.lr",
        "policy.hidden_dims": "policy.hidden",
        "env.num_envs": "env.n_envs",
        "lr": "algo.lr",
        "env_steps": "stop.env_steps",
    }.items():
        (problem,) = problems(resolve, "CartPole-v1", {key: 1})
        assert f"did you mean {meant}?" in problem


def test_integers_and_exponents_are_numbers_wherever_a_number_is_expected():  # trap 36
    overrides = ["algo.lr=1e-3", "algo.max_grad_norm=1", "algo.gamma=1", "eval.start_at=3"]
    config = resolve("CartPole-v1", dict(map(parse_assignment, overrides))).config
    assert config.algo.lr.highest == 1e-3
    assert config.algo.max_grad_norm == 1.0
    assert isinstance(config.algo.gamma, float)
    assert config.eval.start_at == 3.0


def test_clipping_can_be_switched_off_and_stays_off():  # trap 7
    off = {"algo.max_grad_norm": "off", "algo.value_clip": "off", "algo.target_kl": "off"}
    config = load(save(resolve("CartPole-v1", off).config))
    assert config.algo.max_grad_norm is None
    assert config.algo.value_clip is None
    on = load(save(resolve("CartPole-v1", {"algo.value_clip": 0.2}).config))
    assert on.algo.value_clip is not None


def test_an_empty_value_is_neither_off_nor_the_default(problems):  # trap 7
    key, value = parse_assignment("algo.max_grad_norm=")
    assert value is None
    (problem,) = problems(resolve, "CartPole-v1", {key: value})
    assert "write `off`" in problem


def test_a_batch_of_one_is_one_transition_and_a_share_follows_the_rollout():  # trap 37
    one = {"algo.batch_size": 1, "algo.advantage_norm": "rollout"}
    assert resolve("CartPole-v1", one).config.initial_hyperparameters().minibatch_size(1024) == 1
    for n_envs in (1, 8, 64):
        share = {"algo.batch_size": "25%", "env.n_envs": n_envs}
        algo = resolve("CartPole-v1", share).config.initial_hyperparameters()
        assert isinstance(algo.batch_size, Share)
        assert algo.minibatch_size(n_envs * algo.n_steps) == n_envs * algo.n_steps // 4


def test_a_batch_larger_than_the_rollout_is_rejected_even_if_only_n_envs_changed(
    problems,
):  # trap 37
    (problem,) = problems(resolve, "CartPole-v1", {"env.n_envs": 1})
    assert "algo.batch_size: 128 is more than a rollout holds: 1 envs x 64 steps = 64" in problem
    assert problem.startswith("CartPole-v1.yaml:")


def test_auto_is_resolved_once_and_stored():
    config = resolve("CarRacing-v3", {"env.n_envs": "auto", "env.backend": "auto"}).config
    assert (config.env.backend, config.env.n_envs) == ("process", 8)
    assert "backend: process" in save(config)
    assert resolve("CarRacing-v3").config.env == config.env  # auto is the default
    assert resolve("CarRacing-v3", {"env.backend": "inprocess"}).config.env.backend == "inprocess"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("algo.lr=3e-3->0", "algo.lr", "3e-3->0"),
        ("algo.lr=3e-3", "algo.lr", 3e-3),
        ("seed=0", "seed", 0),
        ("stop.env_steps=50k", "stop.env_steps", "50k"),
        ("eval.every=off", "eval.every", "off"),
        ("env.kwargs.continuous=true", "env.kwargs.continuous", True),
        ("env.kwargs.render_fps=30", "env.kwargs.render_fps", 30),
        ("env.kwargs.desc=[SF, FG]", "env.kwargs.desc", ["SF", "FG"]),
        ("policy.hidden=[64, 64]", "policy.hidden", [64, 64]),
        ("algo.lr={0%: 1e-3, 100%: 0}", "algo.lr", {"0%": 1e-3, "100%": 0}),
        ("algo.lr={0%: 1, 9%: 0} floor 1", "algo.lr", "{0%: 1, 9%: 0} floor 1"),
        ("facts.source=a=b", "facts.source", "a=b"),
    ],
)
def test_an_assignment_is_parsed_like_a_line_of_a_file(text, key, value):
    assert parse_assignment(text) == (key, value)


@pytest.mark.parametrize("text", ["algo.lr", "=3", "algo..lr=3", ""])
def test_an_incomplete_assignment_is_rejected(text):
    with pytest.raises(ConfigError, match="sets nothing"):
        parse_assignment(text)


def test_an_arrow_that_the_shell_cut_off_is_explained():
    with pytest.raises(ConfigError, match="quote it"):
        parse_assignment("algo.lr=3e-3-")


def test_dotted_keys_and_nested_mappings_are_equivalent_and_the_callers_dict_is_not_modified():
    nested = {"algo": {"gamma": 0.5}}
    a = resolve("CartPole-v1", {**nested, "algo.epochs": 3}).config
    b = resolve("CartPole-v1", {"algo.gamma": 0.5, "algo.epochs": 3}).config
    assert a == b
    assert nested == {"algo": {"gamma": 0.5}}


@pytest.mark.parametrize(
    "overrides",
    [
        {"algo.gamma": 0.5, "algo": {"gamma": 0.6}},
        {"algo": {"gamma": 0.5}, "algo.gamma": 0.6},
        {"algo": 3, "algo.gamma": 0.6},
        {"algo.gamma": 0.6, "algo": 3},
    ],
)
def test_two_overrides_of_the_same_value_are_rejected(overrides):
    with pytest.raises(ConfigError, match="is given twice"):
        resolve("CartPole-v1", overrides)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_a_plain_config_contains_only_what_json_stores(algo):
    plain = to_plain(resolve("CartPole-v1", algo=algo).config)
    assert json.loads(json.dumps(plain)) == plain
    assert type(resolve("CartPole-v1", algo=algo).config).model_validate(plain)


@pytest.mark.parametrize(
    "assignments",
    [
        {"stop.env_steps": "5k"},
        {"stop.minutes": 2},
        {"stop.minutes": "off", "stop.env_steps": "5k"},
        {"stop.updates": 7, "stop.minutes": 3},
        {"algo.gamma": 0.5},
    ],
)
def test_the_limits_after_live_changes_are_those_of_the_changed_config(assignments):
    before = resolve("CartPole-v1", {"stop.minutes": 1, "stop.rollouts": 9}).config
    after = apply_assignments(before, assignments)
    changes = [{"key": key, "from": a, "to": b} for key, a, b in diff(before, after)]
    assert limits_after(changes, before.stop.limits()) == after.stop.limits()


def test_a_revision_keeps_all_other_values_and_their_origins():
    before = resolve("CartPole-v1")
    after, origins = apply_overrides(
        before.config,
        {"stop.env_steps": "200k", "algo.epochs": 3},
        provenance=before.provenance,
        origin="resume",
    )
    assert after.stop.limits() == {"env_steps": 200_000}
    changed = {key for key in origins if origins[key] != before.provenance[key]}
    assert changed == {"stop.env_steps", "algo.epochs"}
    assert origins["algo.epochs"] == "resume"


def test_an_unknown_algorithm_is_rejected_with_the_known_ones(problems):
    (problem,) = problems(resolve, "CartPole-v1", algo="poo")
    assert "ppo" in problem


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_an_algorithm_is_a_variant_of_every_environment(algo):
    assert resolve(f"Any-v0:{algo}").config.algo.name == algo
    assert resolve("Any-v0", algo=algo) == resolve(f"Any-v0:{algo}")


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_every_field_of_every_section_is_documented(algo):
    from gymnast.config.config import CONFIGS
    from gymnast.config.problems import fields_at

    for name in fields_at(CONFIGS[algo], ()):
        for field in fields_at(CONFIGS[algo], (name,)):
            section = CONFIGS[algo].model_fields[name].annotation
            assert section.field_docs().get(field), f"{name}.{field}"


def test_without_any_budget_one_message_lists_all_keys_that_need_one(
    problems,
):
    (problem,) = problems(resolve, "CartPole-v1", {"stop.env_steps": "off"})
    needs = "algo.lr, checkpoint.every are percentages of a budget, and no budget is set"
    assert problem.startswith(f"--set: stop.env_steps: {needs}")
    assert "league" not in problem
    (problem,) = problems(resolve, "tag", {"stop.env_steps": "off"})
    assert "league.snapshot" in problem
