"""Which episodes are stored step by step."""

from __future__ import annotations

from gymnast.config.numbers import Share, Switch
from gymnast.config.section import Section


class TracesConfig(Section):
    eval: Switch = True
    """Store every evaluation episode."""
    train: Share = Share(0.01)
    """Share of training episodes stored."""
    film: Switch = True
    """Film the best and the last evaluation when training ends, in a process of its own."""
