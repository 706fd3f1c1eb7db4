"""All runs of a directory: the index, filters, and references to runs and checkpoints."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gymnast.errors import CheckpointError, RunError, UsageError
from gymnast.runs import index, store
from gymnast.runs.reference import split_reference
from gymnast.runs.run import Run

Maker = Callable[..., Run]


def ids(directory: Path, filter: str = "") -> list[str]:
    return [run.id for run in store.list_runs(directory, filter)]


def score(mean: float, low: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": 2 * mean - low, "episodes": 100}


def test_a_missing_directory_has_no_runs(tmp_path: Path):
    assert store.list_runs(tmp_path / "nowhere") == []
    assert not (tmp_path / "nowhere").exists()


def test_the_runs_directory_is_the_option_or_the_environment_variable_or_runs(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("GYMNAST_RUNS", raising=False)
    assert store.runs_dir() == Path("runs").absolute()
    monkeypatch.setenv("GYMNAST_RUNS", "/somewhere")
    assert store.runs_dir() == Path("/somewhere")
    assert store.runs_dir("here") == Path("here").absolute()


def test_runs_are_listed_newest_first_with_their_derived_status(make_run: Maker, runs_dir: Path):
    first, second = make_run(), make_run(status="running")
    listed = store.list_runs(runs_dir)
    assert [(run.id, run.status) for run in listed] == [
        (second.id, "lost"),
        (first.id, "finished"),
    ]
    assert listed[0].path == str(second.path)


def test_the_index_follows_changes_on_disk(make_run: Maker, runs_dir: Path):
    first, second = make_run(), make_run()
    assert ids(runs_dir) == [second.id, first.id]
    first.update(name="renamed")
    assert store.list_runs(runs_dir)[1].name == "renamed"
    for file in sorted(second.path.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    second.path.rmdir()
    (runs_dir / "halfmade").mkdir()  # created, but not yet a run
    assert ids(runs_dir) == [first.id]


def test_unchanged_runs_are_read_from_the_index(
    make_run: Maker, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    runs = [make_run() for _ in range(3)]
    before = store.list_runs(runs_dir)
    read: list[str] = []
    real = index.read_info
    monkeypatch.setattr(index, "read_info", lambda path: read.append(path.name) or real(path))
    assert store.list_runs(runs_dir) == before
    assert read == []
    runs[1].update(note="changed")
    store.list_runs(runs_dir)
    assert read == [runs[1].id]


@pytest.mark.parametrize("harm", ["deleted", "garbage", "empty", "torn", "other layout"])
def test_a_missing_or_damaged_index_is_rebuilt(make_run: Maker, runs_dir: Path, harm: str):
    for _ in range(8):
        make_run()
    expected = ids(runs_dir)
    file = runs_dir / "index.db"
    content = file.read_bytes()
    if harm == "deleted":
        file.unlink()
    elif harm == "other layout":
        with sqlite3.connect(file) as db:
            db.execute("DROP TABLE runs")
            db.execute("PRAGMA user_version = 7")
    else:
        torn = content[:4096] + b"\xff" * (len(content) - 4096)
        file.write_bytes({"garbage": b"not a database" * 500, "empty": b"", "torn": torn}[harm])
    assert ids(runs_dir) == expected
    assert ids(runs_dir) == expected  # and the second time from the new index
    with sqlite3.connect(file) as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (8,)


def test_runs_are_listed_even_if_the_index_cannot_be_written(make_run: Maker, runs_dir: Path):
    made = make_run()
    (runs_dir / "index.db").mkdir()
    assert ids(runs_dir) == [made.id]


def test_concurrent_readers_and_writers_agree(make_run: Maker, runs_dir: Path):
    runs = [make_run() for _ in range(10)]

    def work(i: int) -> list[str]:
        runs[i % 10].update(note=str(i))
        return ids(runs_dir)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(40)))
    assert all(names == [run.id for run in reversed(runs)] for names in found)
    assert {run.note for run in store.list_runs(runs_dir)} == {run.info["note"] for run in runs}


@pytest.mark.parametrize(
    "change",
    [
        {"created": 10**400},
        {"created": {"$float": "nan"}},
        {"updated": 1e300},
        {"clocks": {"seconds": {"$float": "inf"}}},
        {"name": "\ud800"},
        {"threshold": 10**400},
        {"curve": {"env_steps": [1, 2], "mean_return": [1.0]}},
    ],
)
def test_a_run_with_impossible_values_is_listed_as_unreadable(
    make_run: Maker, runs_dir: Path, change: dict[str, object]
):
    good, bad = make_run(), make_run()
    info = json.loads((bad.path / "run.json").read_text())
    (bad.path / "run.json").write_text(json.dumps(info | change))
    for _ in range(2):  # the second time from the index
        listed = {run.id: run.status for run in store.list_runs(runs_dir)}
        assert listed == {good.id: "finished", bad.id: "unreadable"}


@pytest.mark.parametrize("content", ['{"version": 99}', "not json", "[]", ""])
def test_an_unreadable_run_is_listed_as_unreadable_and_does_not_affect_others(
    make_run: Maker, runs_dir: Path, content: str
):
    good, bad = make_run(), make_run()
    (bad.path / "run.json").write_text(content)
    listed = {run.id: run for run in store.list_runs(runs_dir)}
    assert listed[good.id].status == "finished"
    assert listed[bad.id].status == "unreadable"
    assert "run.json" in listed[bad.id].problem
    assert ids(runs_dir, "CartPole") == [good.id]
    assert store.resolve("@last", runs_dir)[0].id == good.id


def test_filters_match_text_and_fields(make_run: Maker, runs_dir: Path):
    a = make_run(name="Try-1", tags=["paper"], seed=0, group="g1", solved=True)
    b = make_run(preset="Taxi-v4:ppo", env="Taxi-v4", status="running", seed=10, solved=False)
    cases = {
        "try": [a],
        "paper": [a],
        "taxi": [b],
        "lost": [b],
        "status=lost": [b],
        "status=LOST": [b],
        "seed=0": [a],
        "tag=paper": [a],
        "group=g1": [a],
        "env=Taxi-v4 status=lost": [b],
        "solved=yes": [a],
        "solved=no": [b],
        "variant=ppo": [b, a],
        "variant=dqn": [],
        "seed>0": [b],
        "seed<=0": [a],
        "score>=0": [],
        "progress<50%": [],
        "taxi try": [],
        "": [b, a],
        a.id: [a],
    }
    for text, expected in cases.items():
        assert ids(runs_dir, text) == [run.id for run in expected], text
    for wrong in ("color=red", "color>1", "name>1", "seed>red"):
        with pytest.raises(UsageError, match=r"color|name|red"):
            store.list_runs(runs_dir, wrong)


def test_comparisons_accept_numbers_as_people_write_them(make_run: Maker, runs_dir: Path):
    run = make_run(score=score(0.0, -1.0), clocks={"env_steps": 1500, "seconds": 3.0})
    run.update(limits={"env_steps": 2000})
    for text in ("score<=0", "score>-1", "env_steps>=1.5k", "env_steps<2k", "progress>50%"):
        assert ids(runs_dir, text) == [run.id], text
    for text in ("score>0", "best_score<0", "env_steps>1.5k", "progress>=80%", "area>=0"):
        assert ids(runs_dir, text) == [], text


@pytest.mark.parametrize("word", ["score>", "env_steps>=", "seed<x", "scor>1", "shade=red"])
def test_a_filter_that_cannot_be_read_is_an_error_even_without_any_run(runs_dir: Path, word: str):
    with pytest.raises(UsageError):
        store.list_runs(runs_dir, word)


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("k3jx", ("k3jx", None)),
        ("k3jx:best", ("k3jx", "best")),
        ("@last:latest", ("@last", "latest")),
        ("@best:CartPole-v1", ("@best:CartPole-v1", None)),
        ("@best:CartPole-v1:ppo:120k", ("@best:CartPole-v1:ppo", "120k")),
        ("@best:best", ("@best", "best")),
        ("runs/k3jx:1.5M", ("runs/k3jx", "1.5M")),
        ("k3jx:120832", ("k3jx", "120832")),
    ],
)
def test_a_reference_is_split_into_run_and_optional_checkpoint(
    reference: str, parts: tuple[str, str | None]
):
    assert split_reference(reference) == parts


def test_runs_are_found_by_id_prefix_name_path_and_last(make_run: Maker, runs_dir: Path):
    a, b = make_run(name="first"), make_run(name="second")
    prefix = next(a.id[:n] for n in range(1, 9) if not b.id.startswith(a.id[:n]))
    for reference in (a.id, prefix, "first", str(a.path)):
        assert store.resolve(reference, runs_dir)[0].path == a.path
        run, which = store.resolve(f"{reference}:best", runs_dir)
        assert (run.path, which) == (a.path, "best")
    assert store.resolve("@last", runs_dir)[0].id == b.id


def test_an_ambiguous_name_or_prefix_is_rejected_with_the_candidates(
    make_run: Maker, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    from gymnast.runs import run as module

    draws = iter("abcdefgh" + "abcdefxy")
    monkeypatch.setattr(module.secrets, "choice", lambda _: next(draws))
    a, b = make_run(name="same"), make_run(name="same")
    for reference in ("same", "abcdef"):
        with pytest.raises(RunError, match="is ambiguous") as ambiguous:
            store.resolve(reference, runs_dir)
        assert a.id in str(ambiguous.value)
        assert b.id in str(ambiguous.value)
    assert store.resolve("abcdefg", runs_dir)[0].id == a.id


def test_an_unknown_reference_is_rejected_with_the_closest_match(make_run: Maker, runs_dir: Path):
    with pytest.raises(RunError, match="there are no runs in"):
        store.resolve("@last", runs_dir)
    make_run(name="lander-wide")
    with pytest.raises(RunError, match="did you mean lander-wide"):
        store.resolve("lander-wied", runs_dir)
    with pytest.raises(RunError, match=r"no run\.json"):
        store.resolve(str(runs_dir / "nothing"), runs_dir)
    with pytest.raises(RunError, match="@last, @best"):
        store.resolve("@lst", runs_dir)
    with pytest.raises(RunError, match="no run of Taxi-v4 has a score"):
        store.resolve("@best:Taxi-v4", runs_dir)
    with pytest.raises(RunError, match="no run is called ''"):
        store.resolve("", runs_dir)


@pytest.mark.parametrize(
    "ref", ["wide:nope", "@last:nope", "@best:CartPole-v1:nope", "{path}:nope"]
)
def test_an_unknown_checkpoint_of_a_known_run_is_reported_as_such(
    ref: str, make_run: Maker, runs_dir: Path
):
    run = make_run(name="wide", env="CartPole-v1", preset="CartPole-v1:ppo", score=score(490, 400))
    (run.path / "checkpoints" / "000000000512").mkdir(parents=True)
    with pytest.raises(CheckpointError, match="'nope' is not a checkpoint") as refusal:
        store.resolve(ref.format(path=run.path), runs_dir)
    assert "best, latest, 512" in str(refusal.value)
    with pytest.raises(CheckpointError, match="'nope' is not a checkpoint"):
        store.find_run(ref.format(path=run.path), runs_dir)
    assert store.find_run("CartPole-v1:nope", runs_dir) is None  # a preset's variant, or none


def test_best_is_the_highest_lower_bound_then_the_highest_mean_then_the_fewest_steps(
    make_run: Maker, runs_dir: Path
):
    make_run(score=score(490, 400), clocks={"env_steps": 10})
    make_run(score=score(475, 470), clocks={"env_steps": 100})
    make_run(score=score(480, 470), clocks={"env_steps": 50_000})
    sooner = make_run(score=score(480, 470), clocks={"env_steps": 20_000})
    make_run(score=None)
    make_run(score={"mean": 500.0, "low": float("-inf"), "high": float("inf"), "episodes": 1})
    assert store.resolve("@best", runs_dir)[0].id == sooner.id
    taxi = make_run(preset="Taxi-v4:ppo", env="Taxi-v4", score=score(7.9, 7.8), clocks={})
    with pytest.raises(RunError, match="scores of CartPole-v1 and Taxi-v4 cannot be compared"):
        store.resolve("@best", runs_dir)
    assert store.resolve("@best:CartPole-v1", runs_dir)[0].id == sooner.id
    assert store.resolve("@best:Taxi-v4", runs_dir)[0].id == taxi.id
    assert store.resolve("@best:Taxi-v4:ppo:latest", runs_dir)[0].id == taxi.id
    pong = make_run(preset="ALE/Pong-v5:ram", env="ALE/Pong-v5", score=score(1.0, 0.5), clocks={})
    assert store.resolve("@best:ALE/Pong-v5", runs_dir)[0].id == pong.id


def test_a_score_of_zero_can_be_the_best(make_run: Maker, runs_dir: Path):
    make_run(score=score(-1.0, -2.0), clocks={"env_steps": 1})
    zero = make_run(score=score(0.0, 0.0), clocks={"env_steps": 1})
    make_run(score=None)
    assert store.resolve("@best", runs_dir)[0].id == zero.id


def test_listed_fields_equal_run_json(make_run: Maker, runs_dir: Path):
    made = make_run(score=score(1 / 3, 0.1), clocks={"env_steps": 7, "seconds": 0.1 + 0.2})
    for _ in range(2):  # read, then from the index
        (listed,) = store.list_runs(runs_dir)
        stored = json.loads((made.path / "run.json").read_text())
        assert stored["score"].items() <= vars(listed.score).items()
        shared = vars(listed).keys() & stored.keys() - {"score"}
        assert shared >= {"id", "preset", "seed", "clocks", "created", "tags", "note"}
        assert {key: getattr(listed, key) for key in shared} == {key: stored[key] for key in shared}
