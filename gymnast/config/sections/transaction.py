"""Rollback of updates that moved the policy too far or produced NaN."""

from __future__ import annotations

from typing import Annotated

from gymnast.config.applies import Applies
from gymnast.config.numbers import Count, Maybe, Positive
from gymnast.config.section import Section

TO_SAMPLED_ACTIONS = Applies(
    "to algorithms whose policy is a distribution, which has a KL divergence",
    lambda on: on.config.algo.action_selection == "sample",
)
WITH_A_KL_LIMIT = Applies(
    "with transaction.max_kl", lambda on: on.config.transaction.max_kl is not None
)


class TransactionConfig(Section):
    max_kl: Annotated[Maybe[Positive], TO_SAMPLED_ACTIONS] = 0.5
    """KL divergence in nats above which an update is rolled back. NaN is always rolled back."""
    kl_factor: Annotated[Positive, TO_SAMPLED_ACTIONS, WITH_A_KL_LIMIT] = 10.0
    """An update above `max_kl` is kept if its KL is less than this many times the median of recent
    updates."""
    window: Annotated[Count, TO_SAMPLED_ACTIONS, WITH_A_KL_LIMIT] = 20
    """Number of recent updates in that median."""
