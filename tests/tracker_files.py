"""Reads what trackers wrote, with code that is independent of the writers."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.waiting import wait_for

Row = dict[str, float]
BLOCK = 32_768
HEADER = b":W&B"


def wandb_files(folder: Path) -> list[Path]:
    """Returns the file of each attempt at a run, after W&B's own process has closed it, which is in its log
    a moment after `finish`."""
    folders = sorted(folder.glob("offline-run-*"))
    for log in (folder / "logs" / "debug-internal.log" for folder in folders):
        wait_for(lambda log=log: "stream: all finished" in log.read_text(), log.read_text)
    return [file for folder in folders for file in folder.glob("*.wandb")]


def wandb_records(file: Path) -> list[Any]:
    """Returns the protobuf records of a `.wandb` file: a 7-byte header, then the blocks of a LevelDB log."""
    from wandb.proto import wandb_internal_pb2

    found = []
    for content in _log_records(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(content)
        found.append(record)
    return found


def _log_records(data: bytes) -> Iterator[bytes]:
    assert data.startswith(HEADER)
    at, parts = 7, b""
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < 7:  # too little for another chunk: padding
            at += left
            continue
        checksum, length, kind = struct.unpack_from("<IHB", data, at)
        chunk = data[at + 7 : at + 7 + length]
        assert zlib.crc32(data[at + 6 : at + 7 + length]) == checksum, "damaged"
        at += 7 + length
        first, last = kind in (1, 2), kind in (1, 4)  # whole, first, middle, last
        parts = chunk if first else parts + chunk
        if last:
            yield parts


def wandb_history(file: Path) -> list[dict[str, Any]]:
    """Returns the logged items (key -> value) in order, without W&B's own keys; media have `key.field`."""
    return [
        {key: _of(item) for item in r.history.item if (key := _key(item))[0] != "_"}
        for r in wandb_records(file)
        if r.WhichOneof("record_type") == "history"
    ]


def wandb_rows(file: Path) -> list[Row]:
    """Returns the metric rows of a run (items with all clocks), without the values of extra charts."""
    charts_only = ("bounds/", "alerts/", "histograms/")
    rows = [row for row in wandb_history(file) if "clock/rollouts" in row]
    return [{key: row[key] for key in row if not key.startswith(charts_only)} for row in rows]


def exit_codes(file: Path) -> list[int]:
    """Returns one exit code for a finished run, none for an aborted one."""
    kinds = [(r.WhichOneof("record_type"), r) for r in wandb_records(file)]
    return [r.exit.exit_code for kind, r in kinds if kind == "exit"]


def _key(item: Any) -> str:
    return item.key or ".".join(item.nested_key)


def _of(item: Any) -> Any:
    value = json.loads(item.value_json)
    # `512` and `-0` are how a float without a fraction is written
    return float(item.value_json) if isinstance(value, int | float) else value


def tensorboard_rows(folder: Path) -> list[Row]:
    """Returns the scalars of each event of all files, read by TensorBoard's own loader."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto import event_pb2

    rows = []
    for file in sorted(folder.glob("*tfevents*"), key=lambda f: f.stat().st_mtime_ns):
        for content in RawEventFileLoader(str(file)).Load():
            event = event_pb2.Event.FromString(content)
            row = {
                v.tag: v.tensor.double_val[0] for v in event.summary.value if v.tensor.double_val
            }
            if row:
                assert event.step == row["clock/vec_steps"]
                rows.append(row)
    return rows


def tensorboard_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Returns tag -> steps and values, as TensorBoard's scalars page requests them."""
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.context import RequestContext

    files = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(str(folder))
    files.Reload()
    provider = data_provider.MultiplexerDataProvider(files, str(folder))
    (found,) = provider.read_scalars(
        RequestContext(), experiment_id="", plugin_name="scalars", downsample=1000
    ).values()
    return {tag: [(p.step, p.value) for p in points] for tag, points in found.items()}


def rows_as_bits(rows: list[Row]) -> list[dict[str, bytes]]:
    """Returns rows that compare equal only if every value has the same bits, including NaN and -0.0."""
    return [{key: struct.pack("<d", value) for key, value in row.items()} for row in rows]
