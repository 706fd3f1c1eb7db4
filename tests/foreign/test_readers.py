"""The readers of event files and `.wandb` files agree with the packages that wrote them, whatever is cut."""

from __future__ import annotations

import contextlib
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import RunError
from gymnast.foreign.crc32c import masked_crc32c
from gymnast.foreign.event_file import is_event_file, read_events
from gymnast.foreign.log import Logged
from gymnast.foreign.open import open_foreign
from gymnast.foreign.protobuf import DamagedMessage, fields
from gymnast.foreign.wandb_file import read_wandb
from tests.foreign.runs import CLEANRL, EVENTS, WANDB
from tests.tracker_files import wandb_history

EVENT_DATA, CLEANRL_DATA, WANDB_DATA = (f.read_bytes() for f in (EVENTS, CLEANRL, WANDB))
EVENT_LOG = read_events(EVENT_DATA).logged
WANDB_LOG = read_wandb(WANDB_DATA).logged


@pytest.mark.parametrize("file", [EVENTS, CLEANRL], ids=lambda f: f.parent.name)
def test_scalars_of_event_files_are_the_same_as_tensorboard_reads(file: Path) -> None:
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto import event_pb2

    expected = []
    for content in RawEventFileLoader(str(file)).Load():
        event = event_pb2.Event.FromString(content)
        values = {
            value.tag: value.simple_value
            for value in event.summary.value
            if value.WhichOneof("value") == "simple_value"
        }
        if values:
            expected.append((values, float(event.step), event.wall_time))
    content = read_events(file.read_bytes())
    found = [(dict(entry.values), entry.step, entry.time) for entry in content.logged]
    assert not content.problem
    assert repr(found) == repr(expected)  # as text, in which NaN equals NaN


def test_scalars_of_tensors_are_read_with_all_their_digits() -> None:
    from tensorboard.compat.proto import event_pb2, types_pb2

    event = event_pb2.Event(wall_time=5.0, step=7)
    for tag, kind in (("float", types_pb2.DT_FLOAT), ("double", types_pb2.DT_DOUBLE)):
        value = event.summary.value.add(tag=tag)
        value.tensor.dtype = kind
        code = "<f" if tag == "float" else "<d"
        value.tensor.tensor_content = struct.pack(code, 0.1)
    value = event.summary.value.add(tag="both")
    value.tensor.dtype = types_pb2.DT_FLOAT
    value.tensor.float_val.append(0.1)
    value.tensor.double_val.append(0.1)
    text = event.summary.value.add(tag="words")
    text.tensor.dtype = types_pb2.DT_STRING
    text.tensor.string_val.append(b"|param|value|")
    picture = event.summary.value.add(tag="picture")
    picture.image.encoded_image_string = b"png"
    content = read_events(_frame(event.SerializeToString()))
    single = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert content.logged == (Logged({"float": single, "double": 0.1, "both": 0.1}, 7.0, 5.0),)
    assert content.texts == {"words": "|param|value|"}


def test_the_checksum_is_that_of_tensorboard() -> None:
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c as theirs

    contents = [b"", b"123456789", b"a" * 100, b"b" * 100, bytes(range(256))]
    assert masked_crc32c(contents) == [theirs(content) for content in contents]


def test_history_and_config_of_wandb_files_are_the_same_as_wandb_stored() -> None:
    expected = [
        {key: value for key, value in row.items() if isinstance(value, float)}
        for row in wandb_history(WANDB)
    ]
    content = read_wandb(WANDB_DATA)
    assert [dict(entry.values) for entry in content.logged] == expected
    assert content.config["total_timesteps"] == 15_000
    assert content.config["target_kl"] is None
    assert content.exit_code == 0
    assert not content.problem


@given(st.integers(0, len(EVENT_DATA)))
@settings(max_examples=60, deadline=None)
def test_a_cut_event_file_gives_the_first_of_its_scalars_and_says_so(size: int) -> None:
    content = read_events(EVENT_DATA[:size])
    count = len(content.logged)
    assert content.logged == EVENT_LOG[:count]
    assert bool(content.problem) or size in _ends(EVENT_DATA)


@given(st.integers(0, len(WANDB_DATA)))
@settings(max_examples=60, deadline=None)
def test_a_cut_wandb_file_gives_the_first_of_its_rows(size: int) -> None:
    content = read_wandb(WANDB_DATA[:size])
    assert content.logged == WANDB_LOG[: len(content.logged)]
    assert size < len(WANDB_DATA) or not content.problem


@given(st.integers(0, len(CLEANRL_DATA) - 1), st.integers(1, 255))
@settings(max_examples=40, deadline=None)
def test_a_changed_byte_of_an_event_file_ends_it_there(place: int, change: int) -> None:
    whole = read_events(CLEANRL_DATA).logged
    data = bytearray(CLEANRL_DATA)
    data[place] ^= change
    content = read_events(bytes(data))
    assert content.problem
    assert content.logged == whole[: len(content.logged)]
    assert len(content.logged) < len(whole)


@given(st.integers(7, len(WANDB_DATA) - 1), st.integers(1, 255))
@settings(max_examples=40, deadline=None)
def test_a_changed_byte_of_a_wandb_file_ends_it_there(place: int, change: int) -> None:
    data = bytearray(WANDB_DATA)
    data[place] ^= change
    content = read_wandb(bytes(data))
    assert content.logged == WANDB_LOG[: len(content.logged)]


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_readers(data: bytes) -> None:
    read_events(data)
    read_events(_frame(data))
    read_wandb(b":W&B\0\0\0" + data)
    assert not is_event_file(b"" + data[:5])
    with contextlib.suppress(DamagedMessage):
        list(fields(data))


@given(st.integers(0, len(EVENT_DATA)))
@settings(max_examples=25, deadline=None)
def test_a_cut_event_file_is_a_run_with_the_first_rows_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    file = tmp_path_factory.mktemp("cut") / "events.out.tfevents.1"
    file.write_bytes(EVENT_DATA[:size])
    whole = open_foreign(str(EVENTS))
    if not read_events(EVENT_DATA[:size]).logged:
        with pytest.raises(RunError):
            open_foreign(str(file))
        return
    run = open_foreign(str(file))
    # the last row may lack what was cut
    expected = [_known(row) for row in whole.rows]
    assert [_known(row) for row in run.rows[:-1]] == expected[: len(run.rows) - 1]
    last, full = _known(run.rows[-1]), expected[len(run.rows) - 1]
    assert all(full[key] == value for key, value in last.items())


def _known(row: dict[str, float]) -> dict[str, float]:
    """Returns the values of a row that are finite and that were logged."""
    logged = ("clock/env_steps", "episode/", "policy/", "value/", "hyper/", "eval:")
    return {k: v for k, v in row.items() if k.startswith(logged) and math.isfinite(v)}


def _frame(content: bytes) -> bytes:
    """Returns a TFRecord frame, with the checksums of TensorBoard."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c as theirs

    length = struct.pack("<Q", len(content))
    parts = (struct.pack("<I", theirs(part)) for part in (length, content))
    return b"".join((length, next(parts), content, next(parts)))


def _ends(data: bytes) -> set[int]:
    """Returns the sizes at which a file ends with a whole frame."""
    ends, at = {0}, 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        at += 12 + size + 4
        ends.add(at)
    return ends
