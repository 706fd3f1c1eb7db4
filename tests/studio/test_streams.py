"""Streams of a run in training: no row is missed or repeated, also if page or server are restarted."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gymnast import api
from gymnast.metrics.store import MetricStore
from gymnast.records import to_json
from gymnast.runs.run import Run
from gymnast.studio.run_stream import Cursors
from gymnast.studio.server import has_active_runs
from tests.api.background import ENDLESS, wait_until
from tests.small_runs import copy_killed_at, resume_run
from tests.studio.conftest import Trained
from tests.studio.server import Message, Server, messages, serving
from tests.waiting import PATIENCE, wait_for


def read(
    client: httpx.Client, run: str, last_id: str = "", **parameters: object
) -> Iterator[Message]:
    """Yields the messages of a run's stream, as a page that reconnects with `last_id` gets them."""
    headers = {"last-event-id": last_id} if last_id else {}
    url = f"/api/stream/run/{run}"
    with client.stream("GET", url, params=parameters, headers=headers) as response:
        assert response.status_code == 200, response.read()
        yield from messages(response)


def stored_rows(run: Path) -> list[Any]:
    with MetricStore(run / "metrics.db") as store:
        return [to_json(row) for row in store.rows()]


def test_a_page_gets_all_rows_and_events_and_the_log_from_the_start(
    client: httpx.Client, trained: Trained
):
    run = trained.first
    found: dict[str, list[Message]] = {}
    for message in read(client, run.id, rows=0, events=0, log=""):
        found.setdefault(message.event, []).append(message)
        if message.event == "log":
            break
    assert [row for m in found["rows"] for row in m.data["rows"]] == stored_rows(run.path)
    assert found["rows"][-1].data["cursor"] == api.rows(str(run.path), last=1).cursor
    events = [event for m in found["events"] for event in m.data["events"]]
    assert events == to_json(api.events(str(run.path)).events)
    summaries = api.runs(f"id={run.id}", runs_dir=trained.runs_dir).runs
    assert [m.data for m in found["summary"]] == to_json(summaries)
    assert "".join(m.data["text"] for m in found["log"]) == (run.path / "log.txt").read_text()


def test_unknown_runs_paths_and_cursors_are_refused(client: httpx.Client, trained: Trained):
    assert client.get("/api/stream/run/nothing").status_code == 404
    assert client.get("/api/stream/run/..").status_code in (200, 400, 404)  # resolved by the client
    assert client.get(f"/api/stream/run/{trained.first.id}?rows=x").status_code == 400
    assert client.get(f"/api/stream/run/{trained.first.id}?nonsense=1").status_code == 400
    wrong = {"last-event-id": "nonsense"}
    url = f"/api/stream/run/{trained.first.id}"
    assert client.get(url, headers=wrong).status_code == 400


@pytest.mark.parametrize(
    "cursors", [Cursors(), Cursors(3, 1, 0, ""), Cursors(10**12, None, 7, "run:12")]
)
def test_cursors_survive_as_text(cursors: Cursors):
    assert Cursors.parse(str(cursors)) == cursors
    assert str(cursors) == str(cursors).strip()


@pytest.fixture
def training(runs_dir: Path) -> Iterator[Path]:
    """The directory of a run that trains until the end of the test."""
    run = api.start("CartPole-v1", overrides=ENDLESS, runs_dir=runs_dir).runs[0]
    wait_for(lambda: (Path(run.path) / "metrics.db").exists())
    wait_until(run.id, "running")
    yield Path(run.path)
    if has_active_runs(runs_dir):
        api.stop(run.id, runs_dir=runs_dir)


def test_reconnecting_during_training_misses_and_repeats_no_row(training: Path):
    """The page reconnects nine times, and the server is restarted twice. The database decides."""
    got: list[Any] = []
    cursor = 0
    last_id = ""
    for _ in range(3):
        with serving(training.parent) as server, server.client() as browser:
            for _ in range(3):
                enough = len(got) + 5
                for message in read(browser, training.name, last_id, rows=0, events=0):
                    last_id = message.id or last_id
                    if message.event == "rows":
                        got += message.data["rows"]
                        assert message.data["cursor"] > cursor
                        cursor = message.data["cursor"]
                        if len(got) >= enough:
                            break
    api.stop(training.name, runs_dir=training.parent)
    with serving(training.parent) as server, server.client() as browser:
        for message in read(browser, training.name, last_id):
            got += message.data["rows"] if message.event == "rows" else []
            if message.event == "summary" and message.data["status"] == "stopped":
                break
    assert got == stored_rows(training)


def test_several_pages_of_a_run_share_one_reader_and_get_the_same(server: Server, trained: Trained):
    rows: list[list[Any]] = [[], [], []]

    def follow(index: int) -> None:
        with server.client() as browser:
            for message in read(browser, trained.second.id, rows=0):
                if message.event == "rows":
                    rows[index] += message.data["rows"]
                elif message.event == "summary":
                    return

    threads = [threading.Thread(target=follow, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows == [stored_rows(trained.second.path)] * 3


def test_a_resume_that_replaces_rows_resets_the_page(copied: Trained):
    run = copied.first
    cut = Run(copy_killed_at(run, 256).path)
    with serving(copied.runs_dir) as server, server.client() as browser:
        before = api.rows(str(cut.path))
        stream = read(browser, cut.id, rows=before.cursor, attempt=before.attempt)
        assert next(stream).event == "summary"
        resume_run(cut)
        after = api.rows(str(cut.path), last=1)
        assert after.attempt > before.attempt
        reset = next(message for message in stream if message.event == "reset")
        assert reset.data["attempt"] in (before.attempt, after.attempt)
        reconnected = read(browser, cut.id, str(Cursors(before.cursor, before.attempt, 0)))
        again = next(message for message in reconnected if message.event == "reset")
        assert again.data == {"attempt": after.attempt}
        position = Cursors.parse(again.id).rows
        while position != after.cursor:  # rows that were written after the reset follow
            position = next(m for m in reconnected if m.event == "rows").data["cursor"]


def test_a_deleted_run_ends_its_stream(copied: Trained):
    with serving(copied.runs_dir) as server, server.client() as browser:
        stream = read(browser, copied.second.id)
        assert next(stream).event == "summary"
        api.remove([copied.second.id], runs_dir=copied.runs_dir)
        assert [message.event for message in stream][-1] == "gone"


def test_the_list_of_runs_is_sent_once_and_then_only_what_changed(copied: Trained):
    def runs(last_id: str = "") -> Iterator[Message]:
        headers = {"last-event-id": last_id}
        with browser.stream("GET", "/api/stream/runs", headers=headers) as response:
            yield from messages(response)

    with serving(copied.runs_dir) as server, server.client() as browser:
        stream = runs()
        first = next(stream)
        assert first.data["changed"] == to_json(api.runs(runs_dir=copied.runs_dir).runs)
        assert (first.data["total"], first.data["complete"]) == (3, True)
        copied.second.tag(["good"])
        changed = next(stream)
        assert [run["tags"] for run in changed.data["changed"]] == [["good"]]
        stream.close()
        api.remove([copied.second.id], runs_dir=copied.runs_dir)
        missed = next(runs(changed.id))
        assert missed.data["removed"] == [copied.second.id]
        assert missed.data["changed"] == []
        assert missed.data["total"] == 2
        assert next(runs("of-another-server")).data["complete"] is True


def test_a_lost_process_is_reported_although_no_file_changes(training: Path):
    with serving(training.parent) as server, server.client() as browser:
        stream = read(browser, training.name)
        pid = Run(training).info["pid"]
        os.kill(pid, signal.SIGKILL)
        statuses = (m.data["status"] for m in stream if m.event == "summary")
        assert next(status for status in statuses if status != "running") == "lost"


def test_ctrl_c_ends_the_server_at_once_and_quietly_while_pages_are_open(
    trained: Trained, tmp_path: Path
):
    shutil.copytree(trained.runs_dir, tmp_path / "served")
    command = [sys.executable, "-m", "gymnast", "studio", "--runs", str(tmp_path / "served")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    link = next(line for line in process.stdout if "#token=" in line).strip()
    address, _, token = link.partition("#token=")
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as browser:
        stream = read(browser, trained.first.id, rows=0)
        assert next(stream).event == "rows"
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - asked < 30  # a stream of a page never ends by itself
        assert (process.returncode, errors) == (0, "")
        assert "reset" not in [message.event for message in stream]
