"""The settings a run trains with: its stored config, and on top of it what was changed live."""

from __future__ import annotations

from typing import Any

from gymnast.config.config import Config
from gymnast.config.live import overlaid
from gymnast.config.resolve import load
from gymnast.runs.events import CHANGED
from gymnast.runs.run import Run


def settings_in_use(run: Run) -> tuple[Config[Any], dict[str, str]]:
    """The config, and where each value came from: `live change at 12,288 env steps`."""
    config, origins = load(run.config(), at=str(run.path / "config.yaml")), run.provenance()
    live = run.info.get("live", {})
    if not live:
        return config, origins
    for event in run.events():
        who = CHANGED if event["kind"] == CHANGED else f"rule {event.get('rule', '')}".rstrip()
        for change in event.get("changes", ()) if event["kind"] in (CHANGED, "rule") else ():
            if change["key"] in live:
                origins[change["key"]] = f"{who} at {event['env_steps']:,} env steps"
    return overlaid(config, live), origins
