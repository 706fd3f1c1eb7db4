"""Secrets, paths and names never reach a bundle, wherever they were planted."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gymnast.insight.chart import ChartData, ChartEvent, ChartSeries
from gymnast.privacy.sanitize import Identity, Sanitizer, this_identity
from gymnast.privacy.secrets import is_secret_name
from gymnast.review.prepare import ReviewRequest, bundle_of, find_subject
from gymnast.runs.run import Run
from gymnast.text.plain import plain_text
from tests.privacy.planted import (
    HOME,
    HOST,
    USER,
    VARIABLE,
    Planted,
    names,
    plant,
    planted_texts,
    pretend_to_be_somebody,
)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_to_be_somebody(monkeypatch)


IDENTITY = Identity(
    {HOME: "~", f"{HOME}/runs": "RUNS"},
    {USER: "USER", HOST: "HOST", HOST.partition(".")[0]: "HOST"},
    (VARIABLE,),
)


@given(planted_texts)
def test_planted_texts_are_replaced(planted: Planted):
    clean = Sanitizer(IDENTITY).text(planted.text)
    assert planted.core.lower() not in clean.lower()


@given(planted_texts)
def test_cleaning_again_changes_nothing_that_matters(planted: Planted):
    sanitizer = Sanitizer(IDENTITY)
    once = sanitizer.text(planted.text)
    assert planted.core.lower() not in sanitizer.text(once).lower()


@given(st.text(st.characters() | st.sampled_from("\x1b[]31m\x07\r\n\t\x9b\u202e\u200d")))
def test_plain_text_has_no_control_characters(text: str):
    plain = plain_text(text)
    allowed = plain.replace("\n", "").replace("\t", "").replace("\u200d", "")
    assert [c for c in allowed if unicodedata.category(c) in ("Cc", "Cf", "Cs")] == []
    assert plain_text(plain) == plain
    if text.isascii() and text.isprintable():
        assert plain == text


ORDINARY = [
    "evaluation return 497.2 reached the goal of 495 at 15,360 env steps",
    "py:my_package.envs:NoisyCartPole",
    "the deterministic policy is worse than the sampled one",
    "gymnast/guide/reading-charts.md#score",
    "algo.lr 0.003 -> 0, batch_size 25%, n_envs 16",
    "pettingzoo/butterfly/pistonball_v6 and ALE/Pong-v5:ppo",
    "variant ppo, CartPole-v1.yaml:37",
    "root seed 3, user action, 1.2e-05",
    "the key moments of the episode",
    "▁▂▃▄▅▆▇█ ● evaluation   ○ training",
    "seed 196034149, version 151552, 0.98712345678901234",
    "/usr/lib/python3.11/site-packages/gymnasium/core.py",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay_as_they_are(text: str):
    assert Sanitizer(IDENTITY).text(text) == text


def test_values_with_a_secret_name_are_removed_whatever_they_look_like():
    sanitizer = Sanitizer(IDENTITY)
    config = {
        "env": {"kwargs": {"api_key": "plain", "tokens": ["a", "b"], "gravity": -10}},
        "key": "x",
    }
    clean = sanitizer.value(config)
    removed = {"api_key": "[removed]", "tokens": "[removed]", "gravity": -10}
    assert clean == {"env": {"kwargs": removed}, "key": "x"}
    assert [n for n in ("key", "keys", "monkey", "policy.keyframes") if is_secret_name(n)] == []
    assert all(map(is_secret_name, ("WANDB_API_KEY", "db.password", "ssh-key", "HF_TOKEN")))


def test_a_record_keeps_its_type_and_its_numbers():
    series = [ChartSeries("a", f"by {USER}", [1.0, 2.0], [0.1, None])]
    chart = ChartData("n", "f", "t", "a", "env_steps", series, events=[ChartEvent("k", HOME, 1.0)])
    clean = Sanitizer(IDENTITY).record(chart)
    assert clean.series[0].label == "by USER"
    assert (clean.series[0].x, clean.series[0].y) == ([1.0, 2.0], [0.1, None])
    assert clean.events[0].text == "~"


@pytest.mark.usefixtures("person")
def test_the_identity_is_that_of_this_process(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    identity = this_identity(tmp_path / "link", ["other.example"])
    assert identity.paths[HOME] == "~"
    assert (
        identity.paths[str(tmp_path / "link")] == identity.paths[str(tmp_path / "real")] == "RUNS"
    )
    assert identity.names[USER] == "USER"
    assert {n for n, word in identity.names.items() if word == "HOST"} >= {
        HOST,
        "mrrshan-7",
        "other",
    }
    assert VARIABLE in identity.secrets


@pytest.mark.parametrize("name", ["root", "localhost", "", "x"])
def test_names_that_identify_nobody_are_no_names(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("socket.gethostname", lambda: name)
    monkeypatch.setattr("getpass.getuser", lambda: name)
    assert name not in this_identity(Path("/x/y")).names


@pytest.mark.usefixtures("person")
@settings(
    max_examples=5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],  # an example takes half a second: too long to look for a smaller one
)
@given(texts=st.lists(planted_texts, min_size=20, max_size=40), more=st.lists(names, min_size=3))
def test_nothing_that_was_planted_into_a_run_reaches_its_bundle(
    trained: Run, tmp_path: Path, texts: list[Planted], more: list[Planted]
):
    path = tmp_path / "runs" / trained.id
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(trained.path, path)
    plant(Run(path), texts + more)
    request = ReviewRequest(trained.id, "eval", None, None, None, 200_000, str(path.parent))
    bundle = bundle_of(find_subject(request), 200_000)
    text = bundle.text.lower()
    assert "the end of the log" in text
    for planted in texts + more:
        lines = [line for line in text.splitlines() if planted.core.lower() in line]
        assert not lines, f"{planted} in {lines[0]}"
    assert str(path.parent).lower() not in text
