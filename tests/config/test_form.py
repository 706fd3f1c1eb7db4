"""The form of a target's settings: complete, consistent with `--set`, and never an exception for a value."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.cli.train import train
from gymnast.config.config import CONFIGS
from gymnast.config.form import FormField, SettingsForm, make_form, setting_text
from gymnast.config.live import live_keys
from gymnast.config.presets import all_presets
from gymnast.config.resolve import parse_assignment, resolve
from gymnast.config.section import AlgoSection
from gymnast.config.sections import ALGORITHMS
from gymnast.config.serialize import flat_values
from gymnast.errors import ConfigError
from tests.cli_output import cli_output
from tests.config.test_every_key import KEYS_OF_CONFIGS, VALUES

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
TARGETS = [f"{name}:{v}" for name, preset in all_presets().items() for v in preset.listed_variants]


def fields(form: SettingsForm) -> dict[str, FormField]:
    found = [field for section in form.sections for field in section.fields]
    assert len({field.key for field in found}) == len(found), "a key appears twice"
    return {field.key: field for field in found}


@pytest.mark.parametrize(
    ("target", "algo"),
    [*((target, None) for target in TARGETS), *(("CartPole-v1", name) for name in ALGORITHMS)],
)
def test_every_setting_of_every_preset_is_one_field_with_its_value_and_origin(
    target: str, algo: str | None
):
    form, resolved = make_form(target, algo=algo), resolve(target, algo=algo)
    by_key, values = fields(form), flat_values(resolved.config)
    assert form.problems == []
    assert values.keys() <= by_key.keys()
    # what `config show` does not list are the mappings themselves, to which names can be added
    assert {by_key[key].kind for key in by_key.keys() - values.keys()} <= {"mapping"}
    for key, value in values.items():
        assert by_key[key].value == value
        assert by_key[key].origin == resolved.provenance[key]
        assert by_key[key].live == (key in live_keys(resolved.config))
    schedulable = {key.removeprefix("algo.") for key, one in by_key.items() if one.schedulable}
    algorithm = type(resolved.config.algo)
    assert issubclass(algorithm, AlgoSection)
    assert {key for key in schedulable if "." not in key} == {*algorithm.schedulable_fields()}
    assert all(field.doc for field in by_key.values())


@pytest.mark.parametrize("target", ["CartPole-v1", "tag", "ALE/Pong-v5", "LunarLander-v3"])
def test_every_value_can_be_set_to_what_it_is(target: str):
    form = make_form(target)
    before = fields(form)
    texts = {key: field.text for key, field in before.items() if field.value != {}}
    # A mapping and its entries would be given twice, and one budget switches off the others.
    texts = {
        key: text
        for key, text in texts.items()
        if before[key].kind != "mapping" and not (key.startswith("stop.") and text == "off")
    }
    again = make_form(target, [f"{key}={text}" for key, text in texts.items()])
    assert again.problems == []
    after = fields(again)
    assert {key: after[key].value for key in texts} == {key: before[key].value for key in texts}
    assert {after[key].layer for key in texts} == {"command line"}


@pytest.mark.parametrize("target", ["CartPole-v1", "tag"])
def test_every_choice_and_bound_is_what_validation_accepts(target: str):
    for key, field in fields(make_form(target)).items():
        for word in field.choices:
            wrong = make_form(target, [f"{key}={word}"]).problems
            # a word may contradict other settings, but it is a valid word
            assert not any("is unknown" in one.text or "not a" in one.text for one in wrong), key
        if field.kind == "choice":
            assert make_form(target, [f"{key}=nonsense"]).problems
        if field.low is not None:
            assert make_form(target, [f"{key}={field.low - 1}"]).problems, key
        if field.high is not None:
            assert make_form(target, [f"{key}={field.high * 2 + 1}"]).problems, key


WRONG = (
    *("algo.lr=-1", "algo.lrr=1", "env.n_envs=0", "nonsense", "=3", "algo.lr", "policy.hidden=3"),
    *(
        "algo.name=dqn",
        "stop.solved=maybe",
        "algo.lr=3e-4 -",
        "env.kwargs={}",
        "env=3",
        "league.draw=x",
    ),
    *("algo.batch_size=1G", "facts.reward=[3, 1]", "collect.mode=never", "roles.nobody.plays=1"),
)


@pytest.mark.parametrize("text", WRONG)
def test_a_problem_has_the_message_that_the_command_line_prints(text: str):
    form = make_form("CartPole-v1:a2c", [text])
    with pytest.raises(ConfigError) as refused:  # `gymnast` prints it after "error: "
        cli_output("config", "show", "CartPole-v1:a2c", "--set", text)
    assert "\n".join(problem.message for problem in form.problems) == str(refused.value)
    for problem in form.problems:
        assert problem.key in (text.partition("=")[0], "") or problem.key.startswith("roles.nobody")


def test_all_problems_are_reported_at_once_and_the_valid_rest_is_applied():
    form = make_form(
        "CartPole-v1",
        ["algo.lr=-1", "algo.gamma=0.5", "algo.learning_rate=1", "x", "algo.batch_size=1G"],
    )
    assert {problem.key for problem in form.problems} == {
        *("algo.lr", "algo.learning_rate", "x", "algo.batch_size"),
    }
    assert form.unknown == ["algo.learning_rate"]
    gamma = fields(form)["algo.gamma"]
    assert (gamma.value, gamma.layer, gamma.default) == (0.5, "command line", 0.99)


def test_a_contradiction_at_a_key_of_the_preset_drops_the_override_that_causes_it():
    form = make_form("CartPole-v1", ["algo.gamma=0.5", "env.n_envs=1", "algo.n_steps=1"])
    assert {problem.key for problem in form.problems} == {"algo.batch_size"}
    assert fields(form)["algo.gamma"].value == 0.5


def test_a_setting_applies_depending_on_the_others():
    key = "env.noise.idle"
    assert not fields(make_form("CartPole-v1"))[key].applies
    assert fields(make_form("CartPole-v1", ["env.noise.delay=2"]))[key].applies
    assert fields(make_form("CartPole-v1"))["policy.squash"].applies, "the spaces are unknown"
    assert not fields(make_form("CartPole-v1"))["league.draw"].applies
    assert fields(make_form("tag"))["league.draw"].applies


def test_environments_without_a_preset_have_a_form_and_wrong_targets_do_not():
    form = make_form("py:tests.scripted:Script")
    assert "no preset" in form.title
    assert form.space_defaults
    with pytest.raises(ConfigError):
        make_form("CartPole-v1", algo="nonsense")
    with pytest.raises(ConfigError):
        make_form("CartPole-v1:nonsense")


def test_a_user_defined_algorithm_has_a_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (text,) = re.findall(r"```python\n# my_awr\.py\n(.*?)```", GUIDE.read_text(), re.S)
    (tmp_path / "form_awr.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    name = "py:form_awr:AWR"
    try:
        form = make_form("CartPole-v1", ["algo.temperature=1 -> 0.1", "algo.x=1"], name)
        assert form.algorithms[-1] == name
        temperature = fields(form)["algo.temperature"]
        assert temperature.schedulable
        assert temperature.doc
        assert form.unknown == ["algo.x"]
    finally:
        for registry in (ALGORITHMS, CONFIGS):
            registry.pop(name, None)
        sys.modules.pop("form_awr", None)


values = st.sampled_from(VALUES) | st.text(max_size=12) | st.floats().map(str)
assignments = st.builds(
    "{}={}".format,
    st.sampled_from([key for _, key in KEYS_OF_CONFIGS]) | st.text("abc.lr", max_size=8),
    values,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["CartPole-v1", "tag", "CartPole-v1:dqn", "FrozenLake-v1"]),
    st.lists(assignments | st.text(max_size=15), max_size=4),
)
def test_no_text_raises(target: str, overrides: list[str]):
    form = make_form(target, overrides)
    assert fields(form).keys() >= {"seed", "algo.name", "env.id"}


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc", min_size=1), inner, min_size=1, max_size=2)
        ),
        max_leaves=5,
    )
)
def test_the_text_of_a_value_is_read_as_the_value(value: object):
    text = setting_text(value)
    if value == "":
        assert parse_assignment(f"key={text}") == ("key", "")
    elif isinstance(value, float) and value in (float("inf"), -float("inf")):
        assert parse_assignment(f"key={text}") == ("key", str(value))
    elif not _has_infinity(value):
        assert parse_assignment(f"key={text}") == ("key", value)


def _has_infinity(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_infinity, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value in (float("inf"), -float("inf"))


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@given(
    overrides=st.lists(st.builds("{}={}".format, words, words), max_size=3),
    name=words,
    tags=st.lists(words, max_size=2),
    seed=st.none() | st.integers(0, 9),
    source=st.none() | words,
)
def test_a_command_is_read_by_the_shell_and_the_parser_as_it_was_meant(
    overrides: list[str], name: str, tags: list[str], seed: int | None, source: str | None
):
    text = api.train_command(
        "CartPole-v1", overrides=overrides, name=name, tags=tags, seed=seed, source=source, seeds=2
    )
    program, verb, *arguments = shlex.split(text)
    assert (program, verb) == ("gymnast", "train")
    read = train.make_context("train", arguments).params
    assert read["target"] == "CartPole-v1"
    assert list(read["assignments"]) == overrides
    assert (read["name"], list(read["tags"]), read["seed"]) == (name, tags, seed)
    assert (read["source"], read["seeds"]) == (source, 2)


def test_a_command_may_be_given_values_instead_of_texts():
    text = api.train_command("tag", overrides={"policy.hidden": [8, 8], "algo.lr": "1e-3 -> 0"})
    assert text == "gymnast train tag --set 'policy.hidden=[8, 8]' --set 'algo.lr=1e-3 -> 0'"
