"""Fresh episodes and games over HTTP."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from gymnast.errors import Failure
from gymnast.serving.calls import call
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from tests.studio.conftest import Trained
from tests.studio.server import serving


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def post(browser: httpx.Client, operation: str, **arguments: object) -> httpx.Response:
    return browser.post(f"/api/{operation}", json=arguments)


def rolled_out(browser: httpx.Client, **arguments: object) -> dict[str, Any]:
    """Rolls out an episode and returns the outcome of the task."""
    started = post(browser, "roll_out", **arguments)
    assert started.status_code == 202
    query = {"id": started.json()["id"], "timeout": 60}
    return browser.get("/api/task_result", params=query, timeout=70).json()


@pytest.mark.slow
def test_an_episode_is_rolled_out_and_inspected(copied: Trained):
    run = copied.first.id
    with serving(copied.runs_dir) as server, server.client() as browser:
        overrides = ["env.noise.obs=0.01"]
        info = rolled_out(browser, ref=run, seed=4, max_steps=3, overrides=overrides)["result"]
        assert (info["kind"], info["seed"], info["outcome"]) == ("fresh", 4, "stopped")
        listed = browser.get("/api/episodes", params={"ref": run, "kind": "fresh"}).json()
        assert listed["episodes"] == [info]
        query = {"ref": run, "kind": "fresh", "version": info["version"], "number": info["number"]}
        inspection = browser.get("/api/inspect", params=query).json()
        assert inspection["replay"]["exact"]
        assert inspection["info"] == info
        wrong = rolled_out(browser, ref=run, overrides=["algo.lr=1"])
        assert (wrong["state"], wrong["failure"]["code"]) == ("failed", "usage")


@pytest.mark.slow
def test_a_game_is_played_and_inspected(copied: Trained):
    with serving(copied.runs_dir) as server, server.client() as browser:
        game = post(browser, "play_start", target=copied.first.id, seed=3).json()
        assert game["run"] == copied.first.id
        key = game["keys"][0]["key"]
        state = post(browser, "play_step", session=game["session"], keys=[key], steps=2).json()
        assert (state["step"], state["over"]) == (2, False)
        state = post(browser, "play_step", session=game["session"], action=0).json()
        assert state["step"] == 3
        assert base64.b64decode(state["picture"]).startswith((b"\x89PNG", b"\xff\xd8"))
        ended = post(browser, "play_stop", session=game["session"]).json()
        address = ended["episode"]["address"]
        query = {"ref": copied.first.id} | {
            name: address[name] for name in ("kind", "version", "number")
        }
        inspection = browser.get("/api/inspect", params=query).json()
        assert inspection["replay"]["exact"]
        assert inspection["info"]["outcome"] == "stopped"
        again = post(browser, "play_step", session=game["session"])
        assert again.json()["code"] == "usage"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("play_start", {"target": "py:tests.studio.forbidden_code:Env"}),
        ("play_start", {"target": "CartPole-v1", "overrides": {"env.kwargs": {"file": "/x"}}}),
        ("roll_out", {"overrides": ["env.id=py:tests.studio.forbidden_code:Env"]}),
    ],
)
def test_code_needs_permission(copied: Trained, operation: str, arguments: dict[str, object]):
    refused = call(exposed()[operation], arguments, StudioOptions(copied.runs_dir))
    assert isinstance(refused, Failure)
    assert (refused.code, "--allow-code" in refused.fix) == ("code", True)
