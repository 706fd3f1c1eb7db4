"""Which episodes are stored step by step."""

from __future__ import annotations

from typing import Annotated

from gymnast.config.applies import WITH_EVALUATIONS, Applies
from gymnast.config.numbers import Share, Switch
from gymnast.config.section import Section

WITH_TRACES = Applies(
    "where evaluation episodes are stored (traces.eval)", lambda on: on.config.traces.eval
)


class TracesConfig(Section):
    eval: Switch = True
    """Store every evaluation episode."""
    train: Share = Share(0.01)
    """Share of training episodes stored."""
    film: Annotated[Switch, WITH_EVALUATIONS, WITH_TRACES] = True
    """Film the best and the last evaluation when training ends, in a process of its own."""
