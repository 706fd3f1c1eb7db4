"""Sweeps over HTTP: neither files nor code can be reached through a search space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gymnast.errors import Failure
from gymnast.serving.calls import call
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from gymnast.sweep.record import SweepSummary
from tests.studio.server import serving
from tests.sweep.synthetic import SPACE, write_study

SPACES = {
    "a file": "/etc/passwd",
    "a file of the directory": "space.yaml",
    "an environment": "target: py:os:system\nparameters: {algo.lr: {choices: [1, 2]}}\n",
    "a setting": "target: CartPole-v1\nsettings: {policy.module: py:os:system}\nparameters: {}\n",
    "a choice": "target: CartPole-v1\nparameters:\n  policy.module: {choices: [off, os:system]}\n",
    "a part": "target: CartPole-v1\nparameters:\n  env.id: {value: 'py:{a}', parts: {}}\n",
    "a directory": "target: CartPole-v1\nsettings: {traces.data: /etc}\nparameters: {}\n",
}


def ask(name: str, arguments: dict[str, Any], runs_dir: Path) -> object:
    return call(exposed()[name], arguments, StudioOptions(runs_dir))


@pytest.mark.parametrize("operation", ["sweep_plan", "sweep_start"])
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_space_can_name_neither_files_nor_code(operation: str, space: str, runs_dir: Path):
    refused = ask(operation, {"space": space}, runs_dir)
    assert isinstance(refused, Failure)
    assert refused.code == ("code" if "\n" in space else "config")


@pytest.mark.parametrize(
    "wandb",
    [
        "program: py:os:system\nparameters: {algo.lr: {values: [1, 2]}}",
        "program: CartPole-v1\nparameters: {policy.module: {value: os}}",
        "program: CartPole-v1\nparameters: {policy: {parameters: {module: {values: [os]}}}}",
    ],
)
def test_a_sweep_of_wandb_cannot_name_code_either(wandb: str, runs_dir: Path):
    refused = ask("sweep_init", {"wandb": wandb}, runs_dir)
    assert isinstance(refused, Failure)
    assert refused.code == "code"


def test_a_study_that_names_code_is_shown_but_not_resumed(runs_dir: Path):
    study = write_study(runs_dir)
    text = SPACE.text.replace("CartPole-v1:ppo", "py:os:system")
    (study.path / "space.yaml").write_text(text)
    refused = ask("sweep_resume", {"study": "mine"}, runs_dir)
    assert isinstance(refused, Failure)
    assert refused.code == "code"
    assert not isinstance(ask("sweep_status", {"study": "mine"}, runs_dir), Failure)


def test_studies_are_listed_and_described(runs_dir: Path):
    write_study(runs_dir)
    listed: Any = ask("sweep_list", {}, runs_dir)
    assert [type(one) for one in listed] == [SweepSummary]
    for name in ("sweep_status", "sweep_plots", "sweep_best", "sweep_importance"):
        assert not isinstance(ask(name, {"study": "mine"}, runs_dir), Failure)


def test_the_pages_of_studies_are_also_json(runs_dir: Path):
    write_study(runs_dir)
    with serving(runs_dir) as server, server.client() as browser:
        for path, operation in (("/sweeps", "sweep_list"), ("/sweeps/mine", "sweep_status")):
            page = browser.get(path, params={"format": "json"}).json()
            arguments = {"study": "mine"} if operation == "sweep_status" else {}
            assert page == browser.get(f"/api/{operation}", params=arguments).json()
            assert "mine" in str(page)


@pytest.mark.parametrize("study", ["../runs", "/etc", "mine/../mine", ""])
def test_a_study_is_found_by_its_name_only(study: str, runs_dir: Path):
    write_study(runs_dir)
    refused = ask("sweep_status", {"study": study}, runs_dir)
    assert isinstance(refused, Failure)
    assert refused.code == "run"


@pytest.mark.parametrize(
    "limit", [{"trials": 10**6}, {"minutes": 10**6}, {"jobs": 1000}, {"seeds": 10**6}], ids=str
)
def test_numbers_have_limits(limit: dict[str, int], runs_dir: Path):
    refused = ask("sweep_start", {"space": SPACE.text, **limit}, runs_dir)
    assert isinstance(refused, Failure)
    assert "must be between" in refused.message
