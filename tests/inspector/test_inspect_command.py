"""`gymnast inspect`: the link to a page, text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import gymnast
from gymnast import api
from gymnast.errors import GymnastError
from gymnast.inspector.record import EpisodeInspection
from gymnast.inspector.text import MARKS, MAX_STEPS, inspection_text
from gymnast.runs.run import Run
from tests.cli_output import cli_output
from tests.e2e.commands import run_checked, run_gymnast
from tests.monitor.fixture import FIXTURE
from tests.small_runs import SMALL

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = {
        **SMALL,
        "env.n_envs": 4,
        "algo.n_steps": 64,
        "stop.env_steps": 1024,
        "eval.every": "50%",
        "traces.train": "100%",
    }
    runs_dir = tmp_path_factory.mktemp("inspect") / "runs"
    return gymnast.train("CartPole-v1", overrides=settings, quiet=True, runs_dir=runs_dir)


@pytest.fixture
def ask(run: Run) -> Ask:
    return lambda *words: cli_output("inspect", *words, "--runs", str(run.path.parent))


def inspected(run: Run) -> EpisodeInspection:
    return api.inspect(run.id, runs_dir=run.path.parent)


def test_text_has_the_header_the_timeline_the_key_moments_and_the_steps(run: Run, ask: Ask):
    text, found = ask(run.id, "--text"), inspected(run)
    head, timeline, moments, steps = text.split("\n\n")
    info = found.info
    assert head.startswith(f"{run.id}: CartPole-v1, eval episode 0 of version {info.version:,}")
    for part in (f"return {info.raw_return:.6g}", f"{info.length} steps", info.outcome):
        assert part in head
    assert f"seed {info.seed}" in head
    assert [line.split()[0] for line in timeline.splitlines()[1:]] == [
        *("value_raw", "reward_raw", "step")
    ]
    assert len(moments.splitlines()) == 2 + len(found.moments)
    for line, moment in zip(moments.splitlines()[2:], found.moments, strict=True):
        assert line.split()[:2] == [MARKS[moment.kind], str(moment.step)]
        assert line.endswith(moment.text)
    columns = re.split(r"  +", steps.splitlines()[1].strip())
    for name in ("step", "action", "P(action)", "reward", "value", "advantage", "TD error"):
        assert name in columns
    assert "obs/pole angle" in columns


def test_the_timeline_of_an_agent_ends_when_it_is_out_of_the_match(run: Run):
    found = inspected(run)
    longer = replace(found, info=replace(found.info, length=2 * found.info.length))
    own, out_early = (inspection_text(x, step=None, width=200) for x in (found, longer))
    assert own.split("\n\n")[1:] == out_early.split("\n\n")[1:]


def test_the_steps_around_a_step_are_those_of_the_table(run: Run, ask: Ask):
    long = max(
        api.episodes(run.id, kind="train", runs_dir=run.path.parent).episodes,
        key=lambda episode: episode.length,
    )
    assert long.length > MAX_STEPS
    ref = f"{run.id}:{long.version}"
    text = ask(ref, "--kind", "train", "--episode", str(long.number), "--text", "--step", "20")
    steps = text.split("\nsteps\n")[1].splitlines()
    shown = [line.split()[0] for line in steps[1:] if not line.startswith("not shown")]
    assert shown == ["...", *(str(t) for t in range(10, 31))]
    table = api.steps(run.id, "train", long.version, long.number, runs_dir=run.path.parent).columns
    assert str(table["action"][20]) in next(line for line in steps if line.split()[0] == "20")


def test_csv_is_that_of_the_api_and_json_the_record(run: Run, ask: Ask, tmp_path: Path):
    found = inspected(run)
    where = (run.id, "eval", found.info.version, found.info.number)
    expected = api.steps_csv(*where, runs_dir=run.path.parent)  # pyright: ignore[reportArgumentType]
    assert ask(run.id, "--csv", "-") == expected
    file = tmp_path / "steps.csv"
    assert ask(run.id, "--csv", str(file)) == ""
    assert file.read_text() == expected
    rows = list(csv.DictReader(io.StringIO(expected)))
    assert len(rows) == found.info.length
    assert list(rows[0]) == [column.name for column in found.columns] == list(found.table)
    record = json.loads(ask(run.id, "--json"))
    assert record["table"] == {name: list(values) for name, values in found.table.items()}
    assert record["moments"][-1]["kind"] == "end"


class Studio:
    """Stands for a studio that runs in the background."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def link(self, page: str) -> str:
        return f"http://127.0.0.1:8765/{page}#token=x"


@pytest.fixture
def studio(monkeypatch: pytest.MonkeyPatch) -> Studio:
    studio = Studio()
    monkeypatch.setattr("gymnast.studio.background.ensure_running", lambda _: studio)
    monkeypatch.setattr("webbrowser.open", studio.opened.append)
    return studio


def test_without_text_it_prints_and_opens_the_page_of_the_episode(
    run: Run, ask: Ask, studio: Studio
):
    version = inspected(run).info.version
    page = f"http://127.0.0.1:8765/run/{run.id}/episodes/eval-{version}-2"
    assert ask(run.id, "--episode", "2") == f"studio: {page}#token=x\n"
    assert studio.opened == []
    ask(run.id, "--episode", "2", "--step", "7", "--open")
    assert studio.opened == [f"{page}?step=7#token=x"]


@pytest.mark.parametrize(
    ("is_terminal", "display", "words", "is_opened"),
    [
        (True, ":0", [], True),
        (True, ":0", ["--no-open"], False),
        (True, "", [], False),
        (False, ":0", [], False),
    ],
)
def test_the_page_is_opened_on_a_terminal_of_a_desktop(
    run: Run,
    ask: Ask,
    studio: Studio,
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    display: str,
    words: list[str],
    is_opened: bool,
):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("gymnast.cli.inspect._is_terminal", lambda: is_terminal)
    link = ask(run.id, *words).removeprefix("studio: ").rstrip()
    assert studio.opened == [link] * is_opened


@pytest.fixture
def match_runs(tmp_path: Path) -> Path:
    """A runs directory with a run of tag."""
    shutil.copytree(FIXTURE / "runs" / "selfplay1", tmp_path / "selfplay1")
    return tmp_path


def test_the_page_of_a_match_is_that_of_the_chosen_agent(match_runs: Path, studio: Studio):
    words = ("selfplay1", "--role", "hider", "--step", "3", "--open", "--runs", str(match_runs))
    cli_output("inspect", *words)
    (link,) = studio.opened
    assert "/run/selfplay1/episodes/eval-" in link
    assert link.endswith("?role=hider&step=3#token=x")


def test_options_of_actions_are_printed_by_name(match_runs: Path):
    options = {"turn": ["left", "straight", "right"], "move": ["back", "coast", "forward"]}
    config = match_runs / "selfplay1" / "config.yaml"
    with_options = f"facts:\n  options: {json.dumps(options)}"
    config.write_text(config.read_text().replace("facts:", with_options))
    text = cli_output("inspect", "selfplay1", "--text", "--step", "0", "--runs", str(match_runs))
    table = api.inspect("selfplay1", runs_dir=match_runs).table
    first = next(line for line in text.splitlines() if line.split()[:1] == ["0"])
    turn, move, dash = (table[f"action/{part}"][0] for part in ("turn", "move", "dash"))
    assert isinstance(turn, int | float)
    assert isinstance(move, int | float)
    played = [options["turn"][int(turn)], options["move"][int(move)], str(dash)]
    assert first.split()[1:4] == played


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--episode", "99"], "has no stored eval episode 99"),
        (["--text", "--step", "99999"], "the episode has no step 99999: it has"),
        (["--kind", "fresh"], "no fresh episodes are stored"),
        (["--csv", "/no/such/folder/x.csv"], "cannot be written: No such file"),
        (["--text", "--role", "seeker"], "has no roles"),
    ],
)
def test_errors_say_what_is_wrong_and_how_to_fix_it(
    run: Run, ask: Ask, words: list[str], problem: str
):
    with pytest.raises(GymnastError, match=re.escape(problem)) as caught:
        ask(run.id, *words)
    assert caught.value.fix


def test_it_works_as_typed(run: Run):
    """The command is a process of its own, which starts and ends the one that replays the episode."""
    text = run_checked(run.path.parent, "inspect", f"{run.id}:best", "--text")
    assert text.startswith(f"{run.id}: CartPole-v1, eval episode 0")
    wrong = run_gymnast(run.path.parent, "inspect", run.id, "--kind", "dream")
    assert wrong.returncode == 2
    assert "'dream' is not one of 'train', 'eval'" in wrong.stderr


def test_the_list_has_every_stored_episode_of_a_kind(run: Run, ask: Ask):
    stored = api.episodes(run.id, kind="confirm", runs_dir=run.path.parent).episodes
    head, *lines = ask(run.id, "--list", "--kind", "confirm").splitlines()
    assert head.split() == ["policy", "at", "episode", "return", "steps", "outcome"]
    assert [line.split()[1] for line in lines] == [str(one.number) for one in stored]
    assert [int(line.split()[3].replace(",", "")) for line in lines] == [
        one.length for one in stored
    ]
    listed = json.loads(ask(run.id, "--list", "--kind", "confirm", "--json"))
    assert [one["raw_return"] for one in listed["episodes"]] == [one.raw_return for one in stored]
    assert ask(run.id, "--list", "--kind", "played") == "none is stored\n"
