"""Search: presets, environments, metrics, settings, documentation and runs; and reading the documentation."""

from __future__ import annotations

from gymnast.errors import UsageError
from gymnast.find.find import Found
from gymnast.find.pages import DocText
from gymnast.find.sources import KINDS as KINDS
from gymnast.find.sources import Kind
from gymnast.runs import store
from gymnast.runs.store import RunsDir


def find(
    query: str = "",
    *,
    kind: Kind | None = None,
    limit: int = 10,
    offset: int = 0,
    runs_dir: RunsDir = None,
) -> Found:
    """Searches presets, environments without a preset, metrics, settings, sections of the documentation and
    runs for words, and returns the best matches with the next useful command of each.

    Misspelled words match similar ones. `kind`: only matches of this kind; the counts are of all kinds.
    `limit`: at most that many; `offset`: the `cursor` of an earlier answer. Without a query, everything of
    this kind is listed."""
    from gymnast.find.find import search

    if limit < 1 or offset < 0:
        raise UsageError("`limit` must be at least 1 and `offset` at least 0")
    return search(query, kind, limit, offset, store.runs_dir(runs_dir))


def docs(name: str = "") -> DocText:
    """Returns a page of the documentation (`live-control`), or a section of one with everything below it
    (`live-control#jobs`), as Markdown; without a name, the index of all pages."""
    from gymnast.find.pages import read_docs

    return read_docs(name)
