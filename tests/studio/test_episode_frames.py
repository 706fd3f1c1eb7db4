"""Frames of episodes over HTTP: those of the episode, with the checks of an operation."""

from __future__ import annotations

import re
import struct
from contextlib import closing
from dataclasses import replace

import httpx
import pytest

from gymnast.errors import Failure
from gymnast.import_object import ALLOW_VARIABLE
from gymnast.inspector.address import find_address
from gymnast.inspector.client import default_pool
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames import FrameCache, frames
from gymnast.runs.run import Run
from gymnast.runs.trace import read_meta, read_traces, write_traces
from gymnast.serving.calls import call
from gymnast.studio.episode_frames import FRAMES, MISMATCH_HEADER
from gymnast.studio.options import StudioOptions
from tests.studio.conftest import Trained
from tests.studio.server import serving

PATH, BRANCH_PATH = "/api/episode-frames", "/api/branch-frames"


def steps_in(payload: bytes) -> list[int]:
    """Returns the steps of the frames."""
    (count,), at = struct.unpack_from("<I", payload), 4
    steps: list[int] = []
    for _ in range(count):
        step, length = struct.unpack_from("<II", payload, at)
        assert payload[at + 8 : at + 12] == b"\x89PNG"
        steps.append(step)
        at += 8 + length
    assert at == len(payload)
    return steps


def test_the_frames_are_those_of_the_episode(
    trained: Trained, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    address = find_address(trained.first, "eval")
    query = {"ref": trained.first.id, "kind": "eval", "version": address.version, "number": 0}
    answer = client.get(PATH, params=query | {"first": 2, "last": 8, "every": 3, "width": 300})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert MISMATCH_HEADER not in answer.headers
    assert steps_in(answer.content) == [2, 5, 8]
    with closing(OpenEpisode(address)) as episode:
        assert answer.content == frames(episode, 2, 8, 3, 300, FrameCache())[1]
    # The best checkpoint's first episode is the default.
    assert client.get(PATH, params={"ref": trained.first.id, "last": 1}).status_code == 200


def test_frames_of_a_variation_are_those_of_the_episode_up_to_its_step(
    trained: Trained, client: httpx.Client
):
    query = {"ref": trained.first.id, "kind": "eval", "last": 5, "width": 200}
    episode = client.get(PATH, params=query)
    inspection = client.get("/api/inspect", params={"ref": trained.first.id}).json()
    left = inspection["actions"][0]["name"]
    other = 1 if inspection["table"]["action"][3] == left else 0
    variation = client.get(BRANCH_PATH, params=query | {"step": 3, "action": other})
    assert variation.status_code == 200
    assert steps_in(variation.content)[:4] == [0, 1, 2, 3]
    assert variation.content != episode.content
    until_branch = query | {"last": 3}
    same = client.get(BRANCH_PATH, params=until_branch | {"step": 3, "action": other})
    assert same.content == client.get(PATH, params=until_branch).content
    wrong = client.get(BRANCH_PATH, params=query | {"step": 3, "action": 7})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "usage")


def test_wrong_requests_are_answered_with_failures(trained: Trained, client: httpx.Client):
    for query, status, code in (
        ({"ref": "nothing"}, 404, "run"),
        ({"number": "9999"}, 404, "run"),
        ({"kind": "other"}, 400, "usage"),
        ({"first": "x"}, 400, "usage"),
        ({"first": "-1"}, 400, "usage"),
        ({"last": "-1"}, 400, "usage"),
        ({"width": "0"}, 400, "usage"),
        ({"width": "100000"}, 400, "usage"),
        ({"frist": "1"}, 400, "usage"),
        ({"runs_dir": "/"}, 400, "usage"),
        ({"ref": str(trained.first.path)}, 400, "usage"),
        ({"ref": "../x"}, 400, "usage"),
    ):
        answer = client.get(PATH, params={"ref": trained.first.id} | query)
        assert (answer.status_code, answer.json()["code"]) == (status, code), query


def test_a_replay_that_differs_is_reported_with_its_step(copied: Trained):
    file = sorted(copied.first.traces.glob("eval-*"))[0]
    first, *others = read_traces(file)
    changed = first.reward.copy()
    changed[4] += 1e-9
    write_traces(file, [replace(first, reward=changed), *others], {**read_meta(file)})
    version = int(file.stem.removeprefix("eval-"))
    query = {"ref": copied.first.id, "version": version, "number": 0}
    with serving(copied.runs_dir, read_only=True) as server, server.client() as browser:
        answer = browser.get(PATH, params=query | {"last": 9})
        assert answer.headers[MISMATCH_HEADER] == "4"
        assert steps_in(answer.content) == [0, 1, 2, 3, 4]
        replay = browser.get("/api/inspect", params=query).json()["replay"]
        assert (replay["exact"], replay["mismatch"]) == (False, 4)


def test_code_that_a_config_names_is_not_imported(copied: Trained, monkeypatch: pytest.MonkeyPatch):
    run = copied.first
    config = (run.path / "config.yaml").read_text()
    path = "py:tests.studio.forbidden_code"
    config = re.sub(r"(?m)^(env:\n(?:  .*\n)*?  id:) .*$", rf"\1 '{path}:Env'", config)
    (run.path / "config.yaml").write_text(config)
    for function in FRAMES.values():
        refused = call(function, {"ref": run.id}, StudioOptions(copied.runs_dir))
        assert isinstance(refused, Failure)
        assert (refused.code, "--allow-code" in refused.fix) == ("code", True)
    monkeypatch.setenv(ALLOW_VARIABLE, "1")  # as --allow-code does
    default_pool().close()  # its workers have been started without permission
    allowed = call(FRAMES[PATH], {"ref": run.id}, StudioOptions(copied.runs_dir, allow_code=True))
    assert not isinstance(allowed, Failure) or allowed.code != "code"


def test_reading_the_list_of_episodes_starts_a_worker(copied: Trained):
    pool = default_pool()
    pool.close()
    started: list[str | None] = []
    with pytest.MonkeyPatch.context() as patch, serving(copied.runs_dir) as server:
        patch.setattr(pool, "warm", started.append)
        with server.client() as browser:
            browser.get("/api/runs")
            assert started == []
            browser.get("/api/episodes", params={"ref": copied.first.id})
    address = find_address(Run(copied.first.path), "eval")
    assert started == [address.run]
