"""Exports: every format has every value of every row, bit for bit."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast import api
from gymnast.errors import UsageError
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from tests.small_runs import rows
from tests.tracker_files import (
    exit_codes,
    rows_as_bits,
    tensorboard_rows,
    tensorboard_scalars,
    wandb_files,
    wandb_rows,
)

AWKWARD = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2, 5e-4, 1 / 3, 2.0**60, 1e300]


@pytest.fixture
def run(record: Any) -> Run:
    """A run whose rows have different keys and values that are easily lost in an export."""
    run = record([100.0, None, 300.0], status="finished")
    last = rows(run)[-1]
    with MetricStore(run.path / "metrics.db", "w") as store:
        for k, value in enumerate(AWKWARD, start=1):
            moved = {key: at + k for key, at in last.items() if key.startswith("clock/")}
            store.append({**moved, "value/loss": value, "policy/gone_since": value})
    return run


def read(form: str, path: Path) -> list[dict[str, float]]:
    if form == "csv":
        with path.open() as file:
            return [{k: float(v) for k, v in row.items() if v} for row in csv.DictReader(file)]
    if form == "parquet":
        from pyarrow import parquet

        found = parquet.read_table(path).to_pylist()
        return [{k: v for k, v in row.items() if v is not None} for row in found]
    if form == "tensorboard":
        return tensorboard_rows(path)
    (file,) = wandb_files(path)
    assert exit_codes(file) == [0]
    return wandb_rows(file)


@pytest.mark.parametrize("form", ["csv", "parquet", "tensorboard", "wandb"])
def test_every_format_has_every_value_bit_for_bit(form: str, run: Run):
    for _ in range(2):  # a second export replaces the first
        done = api.export(run.id, form)
        assert done.rows == 6 + len(AWKWARD)
        assert rows_as_bits(read(form, Path(done.path))) == rows_as_bits(rows(run))


def test_parquet_columns_have_unit_and_description(run: Run, tmp_path: Path):
    from pyarrow import parquet

    api.export(run.id, "parquet", tmp_path / "rows.parquet")
    schema = parquet.read_schema(tmp_path / "rows.parquet")
    metadata = schema.field("policy/entropy").metadata
    assert metadata[b"unit"] == b"nats"
    assert metadata[b"description"].startswith(b"Entropy of the policy")


def test_tensorboard_reads_the_rows_as_scalars(run: Run):
    shown = tensorboard_scalars(Path(api.export(run.id, "tensorboard").path))
    for key in ("value/loss", "policy/entropy", "eval:episode/return"):
        recorded = [(r["clock/vec_steps"], r[key]) for r in rows(run) if key in r]
        with np.errstate(over="ignore"):  # TensorBoard draws float32
            drawn = [(int(step), float(np.float32(value))) for step, value in recorded]
        assert repr(shown[key]) == repr(drawn)


def test_a_folder_that_is_not_empty_is_an_error(run: Run, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        api.export(run.id, "tensorboard", tmp_path / "mine")


def test_an_unknown_format_is_an_error(run: Run):
    with pytest.raises(UsageError, match=r"parket is not an export format .*did you mean parquet"):
        api.export(run.id, "parket")
    assert not (run.path / "exports").exists()


def test_a_file_with_another_suffix_is_never_overwritten(run: Run, tmp_path: Path):
    own = tmp_path / "thesis.tex"
    own.write_text("months of work")
    with pytest.raises(UsageError, match="exists and is not"):
        api.export(str(run.path), "csv", own)
    assert own.read_text() == "months of work"
    api.export(str(run.path), "csv", tmp_path / "rows.csv")
    api.export(str(run.path), "csv", tmp_path / "rows.csv")
