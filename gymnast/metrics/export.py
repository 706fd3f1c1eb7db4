"""Export of the metric store to CSV, JSON and Parquet, at full precision: values read back bit for bit."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import metric_for_key, sort_keys
from gymnast.metrics.store import MetricStore


def to_csv(store: MetricStore) -> str:
    """Returns all rows as CSV with a column per key, in table order. A row without a key has an empty cell,
    not a zero."""
    rows = list(store.rows())
    names = sort_keys(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        # repr of a float is its shortest text that reads back to the same bits
        writer.writerow([repr(row[name]) if name in row else "" for name in names])
    return text.getvalue()


def to_parquet(store: MetricStore, metrics: Mapping[str, Metric]) -> bytes:
    """Returns all rows as a Parquet file with a float64 column per key, in table order, and the unit and
    description from `metrics` as metadata of each column. A row without a key is null, which is not NaN."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = list(store.rows())
    names = sort_keys(dict.fromkeys(name for row in rows for name in row), metrics)
    fields = [
        pa.field(n, pa.float64(), metadata=_column_metadata(metric_for_key(n, metrics)))
        for n in names
    ]
    columns = [pa.array([row.get(name) for row in rows], pa.float64()) for name in names]
    file = io.BytesIO()
    parquet.write_table(pa.table(columns, schema=pa.schema(fields)), file)
    return file.getvalue()


def _column_metadata(metric: Metric) -> dict[str, str]:
    return {"unit": metric.unit, "description": metric.description}
