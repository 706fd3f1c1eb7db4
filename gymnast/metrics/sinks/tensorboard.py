"""The TensorBoard tracker: event files, written without TensorFlow or torch. Steps are vector steps.

TensorBoard only draws float32 scalars (`float_val`). The same tensor also holds the float64 value
(`double_val`), for programs that read the file.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gymnast.metrics.alert import Alert
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.sinks.history import is_late_evaluation
from gymnast.metrics.sinks.plain import alert_line
from gymnast.metrics.specs import metric_for_key
from gymnast.metrics.tracking import TrackedRun

FLUSH_SECONDS = 2.0
"""How long a row may stay buffered in memory."""


def open_tracker(tracked: TrackedRun) -> TensorBoard:
    """Creates an event file for this attempt."""
    return TensorBoard(tracked)


class TensorBoard:
    def __init__(self, tracked: TrackedRun) -> None:
        """Creates a new event file in `tracked.folder`, named so that the files of later attempts sort after
        it."""
        from tensorboard.compat.proto import event_pb2, types_pb2
        from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

        folder = tracked.folder
        self.location = str(folder)
        self._tracked, self._checksum = tracked, masked_crc32c
        self._events: Any = event_pb2
        self._types: Any = types_pb2
        self._known: set[str] = set()
        self._flushed = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads files in the order of their names: attempts must sort by time
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}"
        self._file = (folder / name).open("xb")
        self._put(self._events.Event(wall_time=tracked.created, file_version="brain.Event:2"))

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Writes every value of a row as a scalar and every alert as text, at the row's position on the
        clock. The file is flushed every FLUSH_SECONDS."""
        step = int(row[self._tracked.axis])
        if not self._known:
            self._begin(step, row)
        event = self._events.Event(wall_time=self._time(row), step=step)
        for key, number in row.items():
            value = self._value(
                event, key, "scalars", metric_for_key(key, self._tracked.metrics).description
            )
            value.tensor.dtype = self._types.DT_FLOAT
            value.tensor.tensor_shape.SetInParent()  # a scalar
            value.tensor.float_val.append(number)
            value.tensor.double_val.append(number)
        for alert in alerts:
            self._text(event, "alerts", alert_line(alert))
        self._put(event)
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
            self._flushed = time.monotonic()
            self._file.flush()

    def event(self, event: Mapping[str, object]) -> None: ...

    def close(self, summary: Summary | None) -> None:
        self._file.close()

    def _begin(self, step: int, row: Row) -> None:
        """Marks the start of an attempt at `step`, so that TensorBoard drops the steps from there on that
        earlier attempts wrote, and writes the config as text. `row`: the first row of the attempt."""
        # A late row has the same step as a row that must be kept.
        first = step + 1 if is_late_evaluation(row) else step
        event = self._events.Event(wall_time=self._time(row), step=first)
        event.session_log.status = self._events.SessionLog.START
        self._put(event)
        event = self._events.Event(wall_time=self._time(row), step=step)
        config = json.dumps(self._tracked.config, indent=1)
        # Indented by four spaces: the text plugin renders Markdown, and this is a code block.
        self._text(event, "config", "\n".join(f"    {line}" for line in config.splitlines()))
        self._put(event)

    def _time(self, row: Row) -> float:
        """Returns the wall time of a row, in seconds since the epoch, as if training had never been
        paused."""
        return self._tracked.created + row["clock/seconds"]

    def _text(self, event: Any, key: str, text: str) -> None:
        value = self._value(event, key, "text", "")
        value.tensor.dtype = self._types.DT_STRING
        value.tensor.string_val.append(text.encode())

    def _value(self, event: Any, key: str, plugin: str, description: str) -> Any:
        """Adds an empty value of `key` to an event and returns it, for the caller to fill in. The first value
        of a key carries its metadata: the TensorBoard plugin that displays it, and the description."""
        value = event.summary.value.add(tag=key)
        if key not in self._known:
            self._known.add(key)
            value.metadata.plugin_data.plugin_name = plugin
            value.metadata.summary_description = description
        return value

    def _put(self, event: Any) -> None:
        """Writes an event as a TFRecord: length and content, each followed by its checksum."""
        content = event.SerializeToString()
        length = struct.pack("<Q", len(content))
        sums = (struct.pack("<I", self._checksum(part)) for part in (length, content))
        self._file.write(b"".join((length, next(sums), content, next(sums))))
