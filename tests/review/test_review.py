"""Reviews from the request to the stored answer: Python, command line, tasks and the studio."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import CheckpointError, CommandFailed, Failure, RunError, UsageError
from gymnast.progress import no_progress
from gymnast.review import task
from gymnast.review.part import DEFAULT_BUDGET
from gymnast.review.prepare import choose_command
from gymnast.review.record import Review
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run
from tests.review.conftest import COUNT, Configure

PARTS = ["about", "run", "diagnosis", "alerts", "settings", "charts", "metrics", "events", "config"]


def gymnast(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, ["review", *words], input=stdin, standalone_mode=False)


def review_here(ref: str, **arguments: object) -> Review:
    """Does what the child process of `api.review` does, in this process, whose inspector is warm."""
    known: dict[str, object] = {"kind": "eval", "version": None, "number": None, "out": None}
    known |= {"budget": DEFAULT_BUDGET, "command": choose_command(None), "progress": no_progress}
    return task.review(ref, runs_dir=os.environ["GYMNAST_RUNS"], **known | arguments)  # type: ignore[arg-type]


def test_without_a_command_the_bundle_is_written_into_the_run(run: Run):
    made = api.review(run.id).result()
    assert made.command == made.answer == ""
    assert Path(made.bundle).parent.parent == run.path / "reviews"
    text = Path(made.bundle).read_text()
    assert [part.name for part in made.parts] == PARTS
    assert f"Run {run.id}" in text
    assert "threshold 475" in text
    assert "`stop.env_steps`" in text
    assert api.reviews(run.id).reviews == (made,)


def test_the_contents_are_those_of_the_bundle(run: Run):
    contents = api.review_contents(f"{run.id}:best", number=0)
    made = review_here(f"{run.id}:best", number=0)
    assert contents.parts == made.parts
    assert contents.chars == len(Path(made.bundle).read_text())
    assert (contents.command, contents.commands) == ("", ())
    best = run.info["checkpoints"]["best"]
    assert contents.checkpoint == made.checkpoint == best
    assert contents.episode == made.episode
    frames = sorted(file.name for file in (Path(made.bundle).parent / "frames").iterdir())
    assert frames == [f"step-{step:06d}.png" for step in contents.frames]


def test_a_bundle_with_an_episode_has_its_steps_moments_and_frames(run: Run):
    made = review_here(run.id, number=1)
    assert made.episode is not None
    text = Path(made.bundle).read_text()
    length = made.episode.length
    table = text.split("```csv\n")[1].split("```")[0].splitlines()
    steps = [int(line.split(",")[0]) for line in table[1:]]
    assert (steps[0], steps[-1]) == (0, length - 1)
    assert "reward_so_far_raw" in table[0]
    at = table[0].split(",").index("reward_so_far_raw")
    assert float(table[-1].split(",")[at]) == made.episode.raw_return
    assert "## Key moments" in text
    linked = re.findall(r"!\[step (\d+)\]\((frames/\S+)\)", text)
    assert [int(step) for step, _ in linked][:: len(linked) - 1] == [0, length]
    for _, file in linked:
        assert (Path(made.bundle).parent / file).read_bytes().startswith(b"\x89PNG")


def test_an_episode_is_reviewed_after_its_checkpoint_was_deleted(run: Run):
    first = next(list_episodes(run, "eval"))
    shutil.rmtree(run.path / "checkpoints")
    (run.path / "checkpoints").mkdir()
    made = review_here(f"{run.id}:{first.version}", number=first.number)
    assert made.episode == first
    assert "was removed" in Path(made.bundle).read_text()


def test_the_answer_of_a_command_is_stored_with_what_it_is_about(run: Run, configure: Configure):
    configure(count=COUNT)
    made = api.review(f"{run.id}:latest", number=0, confirm=True).result()
    lines = len(Path(made.bundle).read_text().splitlines())
    assert made.answer == f"{lines} lines. ✓ gut"
    assert made.command == "count"
    assert made.seconds > 0
    found = api.reviews(run.id)
    assert found.reviews == (made,)
    assert found.commands == ("count",)
    stored = (Path(made.bundle).parent / "review.json").read_text()
    assert sys.executable not in stored
    assert "import sys" not in stored


@pytest.mark.usefixtures("tasks_here")
def test_nothing_is_sent_without_confirmation(run: Run, configure: Configure, tmp_path: Path):
    mark = tmp_path / "started"
    configure(mine=f"open({str(mark)!r}, 'w')")
    with pytest.raises(UsageError, match="nothing was sent: the command 'mine'"):
        api.review(run.id)
    assert api.review_contents(run.id).command == "mine"
    assert gymnast(run.id, "--list").exit_code == 0
    assert gymnast(run.id, stdin="n\n").return_value == 1
    refused = gymnast(run.id)
    assert isinstance(refused.exception, UsageError)
    assert "confirmation needs a terminal" in str(refused.exception)
    assert gymnast(run.id, "--out", str(tmp_path / "x.md")).exit_code == 0
    assert not mark.exists()
    assert api.reviews(run.id).reviews == ()


FRAMES = (
    "import os, sys; t = sys.stdin.read(); print(sorted(os.listdir('.')), 'base64,' in t, len(t))"
)


@pytest.mark.parametrize(
    ("frames", "has_files", "has_data"),
    [("none", False, False), ("base64", False, True), ("files", True, False)],
)
def test_frames_are_passed_as_configured(
    run: Run, configure: Configure, frames: str, has_files: bool, has_data: bool
):
    configure(frames, mine=FRAMES)
    made = review_here(run.id, number=0, budget=200_000)
    files = "['bundle.md', 'frames']" if has_files else "['bundle.md']"
    assert made.answer.startswith(f"{files} {has_data} ")
    text = Path(made.bundle).read_text()
    assert ("takes no frames" in text) == (frames == "none")
    for data in re.findall(r"data:image/png;base64,([^)]*)\)", text):
        assert base64.b64decode(data).startswith(b"\x89PNG")
    small = review_here(run.id, number=0, budget=9_000)
    assert len(Path(small.bundle).read_text()) <= 9_000
    assert any(part.cut for part in small.parts)


@pytest.mark.usefixtures("tasks_here")
def test_the_command_is_chosen_by_its_name_only(run: Run, configure: Configure):
    configure(first="print(1)", second="print(2)")
    assert review_here(run.id).answer == "1"
    assert api.review(run.id, command="second", confirm=True).result().answer == "2"
    for name in (f"{sys.executable} -c print(3)", sys.executable, "", "third"):
        with pytest.raises(UsageError, match="no review command is called"):
            api.review(run.id, command=name, confirm=True)


def test_a_run_cannot_name_a_command(run: Run, configure: Configure, tmp_path: Path):
    """A `review` section in its config, and settings files in its directory, are not looked at."""
    mark = tmp_path / "hacked"
    evil = {"review": {"mine": {"command": ["touch", str(mark)]}}}
    for place in (run.path, run.path / "gymnast", run.path.parent):
        place.mkdir(exist_ok=True)
        (place / "settings.yaml").write_text(json.dumps(evil))
    with (run.path / "config.yaml").open("a") as config:
        config.write(f"\nreview: {json.dumps(evil['review'])}\n")
    run.update(note=json.dumps(evil))
    configure(mine="print('ours')")
    assert review_here(run.id).answer == "ours"
    assert not mark.exists()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"ref": "nobody"}, RunError),
        ({"budget": 10}, UsageError),
        ({"number": 999}, RunError),
        ({"ref": "RUN:7"}, CheckpointError),
    ],
)
@pytest.mark.usefixtures("tasks_here")
def test_wrong_requests_are_refused(run: Run, arguments: dict[str, object], kind: type[Exception]):
    plain = {"ref": run.id} | arguments
    plain["ref"] = str(plain["ref"]).replace("RUN", run.id)
    with pytest.raises(kind):
        api.review_contents(**plain)  # type: ignore[arg-type]
    with pytest.raises(kind):
        api.review(**plain).result()  # type: ignore[arg-type]
    assert not (run.path / "reviews").exists()


@pytest.mark.usefixtures("tasks_here")
def test_a_command_that_fails_stores_nothing(run: Run, configure: Configure):
    configure(mine="import sys; sys.exit('no quota')")
    with pytest.raises(CommandFailed, match="no quota"):
        api.review(run.id, confirm=True).result()
    assert not (run.path / "reviews").exists()


def test_reviews_may_run_at_the_same_time(run: Run, configure: Configure):
    configure(count=COUNT)
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda _: api.review(run.id, confirm=True).result(), range(3)))
    assert {review.id for review in api.reviews(run.id).reviews} == {review.id for review in made}
    assert len(made) == 3


def test_a_review_that_is_cancelled_ends_its_command_and_stores_nothing(
    run: Run, configure: Configure, tmp_path: Path
):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hang = f"import time; f = open({str(pipe)!r}, 'w'); print('ready', file=f, flush=True); time.sleep(99)"
    configure(mine=hang)
    started = api.review(run.id, confirm=True)
    with pipe.open() as held:
        assert held.readline() == "ready\n"
        assert "waiting for mine" in started.progress.text
        assert api.cancel_task(started.id).state == "cancelled"
        assert held.read() == "", "the command has ended"
    assert not (run.path / "reviews").exists()
    outcome = api.review(run.id, confirm=True, deadline=0.01).outcome()
    assert isinstance(outcome, Failure)
    assert outcome.code == "timed_out"


@pytest.mark.usefixtures("tasks_here")
def test_the_command_line_lists_asks_runs_and_shows(
    run: Run, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    listed = gymnast(run.id, "--episode", "0", "--list")
    assert "would be written to a file, because no command is configured" in listed.stdout
    assert re.search(r"(?m)^steps +[\d,]+$", listed.stdout)
    assert json.loads(gymnast(run.id, "--list", "--json").stdout)["run"] == run.id
    out = tmp_path / "b.md"
    written = gymnast(run.id, "--episode", "0", "--out", str(out))
    assert str(out) in written.stdout
    assert "docs/settings.md" in gymnast(run.id).stdout
    (picture, *_) = re.findall(r"\((b-frames/\S+)\)", out.read_text())
    assert (tmp_path / picture).exists()
    configure(count=COUNT)
    asked = gymnast(run.id, stdin="y\n")
    assert "give" in asked.stderr
    assert "characters to count? [y/N]" in asked.stderr
    assert "lines. ✓ gut" in asked.stdout
    done = json.loads(gymnast(run.id, "--yes", "--json").stdout)
    assert done["command"] == "count"
    shown = gymnast(run.id, "--show")
    assert shown.stdout.count("✓ gut") == 2
    assert shown.stdout.count("bundle.md") == 1, "the one that was given to no command"
    assert "✓ gut" in gymnast(run.id, "--show", done["id"]).stdout
    assert len(json.loads(gymnast(run.id, "--show", "--json").stdout)["reviews"]) == 3
    assert json.loads(gymnast(run.id, "--show", done["id"], "--json").stdout) == done
    missing = gymnast(run.id, "--show", "x")
    assert isinstance(missing.exception, UsageError)
    monkeypatch.setenv("GYMNAST_SETTINGS", "/dev/null")
    assert gymnast(run.id, "--show").exit_code == 0


def test_a_broken_settings_file_is_an_error_with_its_line_but_reviews_can_be_read(
    run: Run, configure: Configure
):
    configure(mine="print(1)").write_text("review:\n  mine: {comand: [x]}\n")
    for call in (api.review, api.review_contents):
        with pytest.raises(UsageError, match=r"settings.yaml:2: review.mine.comand"):
            call(run.id)
    assert "settings.yaml:2" in api.reviews(run.id).problem


def test_a_read_only_studio_refuses_reviews_and_a_request_names_no_file(
    run: Run, configure: Configure, runs_dir: Path
):
    from gymnast.serving.calls import call
    from gymnast.studio.operations import exposed
    from gymnast.studio.options import StudioOptions

    configure(count=COUNT)
    request = {"ref": run.id, "confirm": True}
    refused = call(exposed()["review"], request, StudioOptions(runs_dir, read_only=True))
    assert isinstance(refused, Failure)
    assert refused.code == "read_only"
    wrong = call(exposed()["review"], request | {"out": "/tmp/x"}, StudioOptions(runs_dir))
    assert isinstance(wrong, Failure)
    assert wrong.code == "usage"
    listed = call(exposed()["reviews"], {"ref": run.id}, StudioOptions(runs_dir, read_only=True))
    assert getattr(listed, "commands", None) == ("count",)


def test_a_review_is_restored_from_its_json(run: Run, configure: Configure):
    from gymnast.records import from_json, to_json

    configure(count=COUNT)
    made = review_here(run.id, number=0)
    assert from_json(Review, json.loads(json.dumps(to_json(made)))) == made
