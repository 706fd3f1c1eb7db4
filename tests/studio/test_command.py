"""`gymnast studio` and `gymnast train --studio`."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.errors import UsageError
from gymnast.serving.options import is_loopback
from gymnast.studio import background, server
from gymnast.studio.options import StudioOptions, prefix_path
from gymnast.studio.registry import find_running, register
from tests.studio.conftest import Trained
from tests.waiting import PATIENCE


@contextmanager
def studio(*words: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Runs `gymnast studio` and yields its process and what it printed up to the first link."""
    command = [sys.executable, "-m", "gymnast", "studio", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    try:
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line.strip())
            if "#token=" in line:
                break
        yield process, lines
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_the_link_leads_to_the_run_and_signs_in_once(trained: Trained):
    with studio("--runs", str(trained.runs_dir), trained.first.id) as (process, lines):
        page, _, token = lines[-1].partition("#token=")
        address, _, path = page.partition("/run/")
        assert path == trained.first.id
        with httpx.Client(base_url=address, verify=False, timeout=PATIENCE) as browser:
            answer = browser.post("/api/session", json={"token": token}).json()
            assert answer["runs_dir"] == str(trained.runs_dir)
            assert browser.get("/api/runs").json()["total"] == 3
        assert process.stdout is not None
        assert "another browser" in process.stdout.readline()


def test_a_session_survives_the_death_of_the_server(trained: Trained):
    with socket.socket() as probe:  # not a default port, which another studio may take meanwhile
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("--runs", str(trained.runs_dir), "--port", str(port))
    with studio(*words) as (process, lines):
        address, _, token = lines[-1].partition("#token=")
        browser = httpx.Client(base_url=address, verify=False, timeout=PATIENCE)
        assert browser.post("/api/session", json={"token": token}).status_code == 200
        process.kill()
        process.wait(PATIENCE)
    with closing(browser), studio(*words):
        assert browser.get("/api/runs").json()["total"] == 3
        assert browser.post("/api/session", json={"token": token}).status_code == 401


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_port_in_use_is_an_error_with_a_free_one(busy_port: int, runs_dir: Path):
    result = CliRunner().invoke(cli, ["studio", "--port", str(busy_port), "--runs", str(runs_dir)])
    assert isinstance(result.exception, UsageError)
    assert str(busy_port) in result.exception.message
    proposed = int(result.exception.fix.rpartition(" ")[2])
    options = StudioOptions(runs_dir, port=proposed)
    server.listen(options, any_port=False).close()


def test_without_a_port_the_next_free_one_is_taken(busy_port: int, runs_dir: Path):
    options = StudioOptions(runs_dir, port=busy_port)
    with server.listen(options, any_port=True) as listener:
        assert listener.getsockname()[1] > busy_port


def test_an_address_that_is_not_of_this_machine_is_an_error(runs_dir: Path):
    with pytest.raises(UsageError, match=r"203\.0\.113\.1"):
        server.listen(StudioOptions(runs_dir, host="203.0.113.1"), any_port=True)


def test_an_unknown_run_is_an_error_before_anything_is_served(trained: Trained):
    result = CliRunner().invoke(cli, ["studio", "nothing", "--runs", str(trained.runs_dir)])
    assert "no run is called 'nothing'" in str(result.exception)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "studio.example"])
def test_a_host_that_others_can_reach_is_warned_about(host: str):
    assert not is_loopback(host)
    lines = server.greeting(StudioOptions(Path("runs"), host=host), "LINK")
    assert "not encrypted" in lines[-1]
    quiet = server.greeting(StudioOptions(Path("runs")), "LINK")
    assert all("warning" not in line for line in quiet)


def test_addresses_and_prefixes():
    options = StudioOptions(Path("runs"), host="::1", port=1, prefix=prefix_path("a/b"))
    assert options.address == "http://[::1]:1/a/b/"
    assert replace(options, host="0.0.0.0").address == "http://127.0.0.1:1/a/b/"
    assert [prefix_path(text) for text in ("", "/", "x", "/x/")] == ["/", "/", "/x/", "/x/"]


def test_a_running_studio_is_found_and_its_links_sign_in(trained: Trained, tmp_path: Path):
    assert find_running(tmp_path) is None
    with studio("--runs", str(trained.runs_dir)):
        found = find_running(trained.runs_dir)
        assert found is not None
        assert background.ensure_running(trained.runs_dir) == found
        address, _, token = found.link("run/x").partition("run/x#token=")
        answer = httpx.post(f"{address}api/session", json={"token": token}, timeout=PATIENCE)
        assert answer.status_code == 200
        assert httpx.post(f"{address}api/session", json={"token": token}).status_code == 401
    assert find_running(trained.runs_dir) is None


def test_only_one_studio_is_registered_per_directory(tmp_path: Path):
    first, second = StudioOptions(tmp_path, port=1), StudioOptions(tmp_path, port=2)
    with register(first, "a"), register(second, "b"):
        found = find_running(tmp_path)
        assert found is not None
        assert (found.server, found.options.port) == ("a", 1)


def test_training_prints_the_link_of_its_live_page(runs_dir: Path):
    command = [sys.executable, "-m", "gymnast", "train", "CartPole-v1", "--env-steps", "1000",
               "--set", "eval.confirm_episodes=2", "--quiet", "--studio"]  # fmt: skip
    with studio("--runs", str(runs_dir)):
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
        link = next(line for line in done.stdout.splitlines() if line.startswith("studio: "))
        page, _, token = link.removeprefix("studio: ").partition("#token=")
        address, _, run = page.partition("/run/")
        assert (runs_dir / run / "run.json").exists()
        with httpx.Client(base_url=address, verify=False, timeout=PATIENCE) as browser:
            assert browser.post("/api/session", json={"token": token}).status_code == 200
            assert browser.get("/api/show", params={"ref": run}).json()["id"] == run
