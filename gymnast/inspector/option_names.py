"""Names of the options of an action with several elements, for people who read the step table."""

from __future__ import annotations

from gymnast.inspector.record import EpisodeInspection
from gymnast.runs.step_columns import StepLists


def table_with_option_names(inspection: EpisodeInspection) -> StepLists:
    """Returns the step table with names of options in place of their numbers, where the facts of the preset
    have them."""
    table = dict(inspection.table)
    for action in inspection.actions:
        column = f"action/{action.name}"
        if action.options and column in table:
            table[column] = [
                action.options[int(option)] if isinstance(option, int | float) else option
                for option in table[column]
            ]
    return table
