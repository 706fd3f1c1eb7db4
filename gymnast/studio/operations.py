"""The operations of `gymnast.api` that the studio offers over HTTP."""

from __future__ import annotations

from functools import cache

from gymnast.api import OPERATIONS
from gymnast.serving.calls import Exposed

NOT_EXPOSED = {
    "bundle": "writes an archive into a directory of the user; `bundle_contents` says what it has",
    "config_check": "reads files of the user by path; `settings_form` checks settings",
    "config_fmt": "rewrites files of the user by path",
    "nightly": "trains all presets for an hour, also presets that name code; a schedule runs it",
    "film_queue": "the page of a run shows its films",
    "clear_film_queue": "the page of a run shows its films",
    "init": "writes a project into a directory of the user",
    "wait": "would hold a connection until a run ends; the streams report that",
}
"""Operation -> why the server does not offer it."""


@cache
def exposed() -> dict[str, Exposed]:
    """Returns name -> operation, for all that the server offers."""
    return {
        name: Exposed(operation)
        for name, operation in OPERATIONS.items()
        if name not in NOT_EXPOSED
    }
