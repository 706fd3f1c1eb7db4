"""A bundle never exceeds its maximum size, can always be opened, and says what it lacks."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.bundle.archive import SizeOfArchives, pack
from gymnast.bundle.bundle import make_bundle, write_bundle
from gymnast.bundle.fit import DOES_NOT_FIT
from gymnast.bundle.part import PARTS
from gymnast.bundle.record import DEFAULT_MAX_SIZE
from gymnast.errors import UsageError
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Sizes:
    smallest: int
    """Size of the bundle that has only what is never left out."""
    largest: int
    """Size of the complete bundle."""
    parts: set[str]
    """The parts of the complete bundle."""


@pytest.fixture(scope="module")
def sizes(trained: Run) -> Sizes:
    with pytest.raises(UsageError, match="has at least") as refused:
        make_bundle(trained, None, 0)
    (smallest,) = re.findall(r"at least ([\d,]+) bytes", refused.value.message)
    complete = make_bundle(trained, None, DEFAULT_MAX_SIZE).contents
    parts = {file.part for file in complete.files}
    return Sizes(int(smallest.replace(",", "")), complete.size, parts)


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(share=st.floats(0, 1))
def test_a_bundle_has_at_most_its_maximum_size(
    trained: Run, sizes: Sizes, tmp_path: Path, share: float
):
    limit = round(sizes.smallest * (sizes.largest / sizes.smallest) ** share)
    made = make_bundle(trained, None, limit)
    file = tmp_path / "x.zip"
    write_bundle(made, file)
    assert file.stat().st_size == made.contents.size <= limit
    shown = api.show(str(file), verify=True)
    assert shown.checkpoints.damaged == []
    assert shown.bundle is not None
    included = {one.part for one in shown.bundle.files}
    left_out = {one.name for one in shown.bundle.left_out if one.name in PARTS}
    assert included | left_out == sizes.parts
    assert not included & left_out
    for one in shown.bundle.left_out:
        if one.name in PARTS:
            assert one.reason == DOES_NOT_FIT
            assert one.size > 0
    rows = api.rows(str(file)).rows
    if "metrics" in included:
        assert set(map(str, rows)) <= set(map(str, api.rows(str(trained.path)).rows))
        assert rows


def test_the_smallest_possible_bundle_is_named_and_can_be_made(trained: Run, sizes: Sizes):
    made = make_bundle(trained, None, sizes.smallest).contents
    assert {file.part for file in made.files} == {"run"}
    assert made.size == sizes.smallest
    with pytest.raises(UsageError, match=f"has at least {sizes.smallest:,} bytes"):
        make_bundle(trained, None, sizes.smallest - 1)


def test_a_larger_maximum_never_loses_a_more_important_part(trained: Run, sizes: Sizes):
    """The first part that is missing moves towards the end."""
    order = [*PARTS]
    before = 0
    step = (sizes.largest - sizes.smallest) // 5
    for limit in (*range(sizes.smallest, sizes.largest, step), sizes.largest):
        contents = make_bundle(trained, None, limit).contents
        missing = [order.index(one.name) for one in contents.left_out if one.name in order]
        first = min(missing, default=len(order))
        assert first >= before
        before = first
    assert before == len(order)


def test_long_logs_and_events_are_shortened_at_their_start(run: Run, tmp_path: Path):
    lines = [f"line {i} of a long log" for i in range(30_000)]
    (run.path / "log.txt").write_text("\n".join(lines) + "\n")
    with (run.path / "events.jsonl").open("a") as events:
        events.writelines(f'{{"kind": "note", "message": "{i} {i * i}"}}\n' for i in range(5_000))
    file = tmp_path / "x.zip"
    for limit in (DEFAULT_MAX_SIZE, 60_000):
        made = make_bundle(run, "none", limit)
        write_bundle(made, file)
        shown = api.logs(str(file)).lines
        assert 0 < len(shown) < len(lines)
        assert shown == lines[-len(shown) :]
        assert api.events(str(file)).events[-1].detail == {"message": "4999 24990001"}
    notes = {one.name: one.note for one in made.contents.files}
    assert notes["events.jsonl"].startswith("the last ")
    assert int(notes["events.jsonl"].split()[-1].replace(",", "")) > 5_000


def test_thinned_metrics_keep_evaluations_and_the_last_row(run: Run, tmp_path: Path):
    rows = api.rows(run.id).rows
    plain = {k: v for k, v in rows[-1].items() if not k.startswith("eval")}
    generator = np.random.default_rng(0)  # noise cannot be compressed
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i in range(3_000):
            noise = dict(zip(plain, generator.random(len(plain)).tolist(), strict=True))
            store.append({**noise, "clock/rollouts": 1000.0 + i})
    file = tmp_path / "x.zip"
    made = make_bundle(run, "none", 150_000)
    write_bundle(made, file)
    kept = api.rows(str(file)).rows
    evaluated = [row for row in rows if any(key.startswith("eval") for key in row)]
    assert [row for row in kept if any(key.startswith("eval") for key in row)] == evaluated
    assert kept[-1]["clock/rollouts"] == 3_999
    assert len(kept) < 3_000
    (note,) = [one.note for one in made.contents.files if one.name == "metrics.db"]
    assert note.startswith("one of ")
    assert api.charts(str(file))


@given(
    st.dictionaries(
        st.text("abcé/", min_size=1, max_size=9), st.binary(max_size=300), min_size=1, max_size=5
    )
)
def test_sizes_of_archives_are_computed_exactly(files: dict[str, bytes]):
    packed = pack(files)
    assert SizeOfArchives()(files) == len(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_the_docs_list_the_parts_in_their_order():
    lines = (ROOT / "docs" / "bundle.md").read_text().splitlines()
    table = [
        tuple(cell.strip() for cell in line.split("|")[1:3]) for line in lines if line[:1] == "|"
    ]
    assert table[2:] == [*PARTS.items()]
