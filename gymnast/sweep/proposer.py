"""Opens the proposer that a study names: a registered sampler, or a command of the user."""

from __future__ import annotations

from pathlib import Path

from gymnast.settings import load_settings
from gymnast.sweep.decide import Plan
from gymnast.sweep.options import PROCESS
from gymnast.sweep.process import CommandProposer
from gymnast.sweep.samplers import Proposer, Sampler


def make_proposer(plan: Plan, folder: Path = Path()) -> Proposer:
    """Returns the proposer that the options of a study name. `folder`: the directory of the study, in which a
    command runs. Raises UsageError if the settings file does not have the command."""
    options = plan.options
    if options.sampler != PROCESS:
        return Sampler(options.sampler)
    command = load_settings().propose_command(options.proposer)
    return CommandProposer(options.proposer, command, folder)
