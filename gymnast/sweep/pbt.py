"""Population-based training (Jaderberg et al. 2017): after every interval, weak members of a population copy
the weights and parameters of strong ones and change the parameters a little.

A trial is one member during one interval; it starts from the checkpoint of the trial that it continues or
copies. Every interval is decided on as a whole, from all results of the one before.
"""

from __future__ import annotations

from gymnast.config.plain_value import PlainValue
from gymnast.errors import UsageError
from gymnast.seeds import stream
from gymnast.sweep.decide import Decision, Done, NewTrial, Plan, Wait
from gymnast.sweep.history import History
from gymnast.sweep.parameter import Choices, is_active
from gymnast.sweep.samplers import draw_startup
from gymnast.sweep.space import Space
from gymnast.sweep.standings import standings

COPYING = 0.25
"""Share of the population that copies, and share that is copied from (truncation selection)."""
RESAMPLED = 0.25
"""Probability that a copied parameter is drawn anew instead of changed."""
SAMPLED = 32
"""Number of assignments whose rollouts are compared with the length of an interval."""
CHANGE = 0.1
"""How far a copied number is changed, as a share of its range."""


def decide(plan: Plan, history: History) -> Decision:
    """Returns the next member to train. All members of an interval may train at once; the next interval
    starts when all of them have results."""
    size = plan.options.population
    number = len(history.trials)
    interval, member = divmod(number, size)
    if any(unit not in history.results for unit in range(interval * size)):
        return Wait()
    if interval == plan.options.generations:
        return Done(f"{plan.options.generations} intervals of {size} members are done")
    return NewTrial(plan.budget, source(plan, history, interval, member))


def source(plan: Plan, history: History, interval: int, member: int) -> int | None:
    """Returns the trial from which a member starts an interval: its own one of the interval before, or a
    strong one if its own is among the weakest. None in the first interval, and if all have failed."""
    if interval == 0:
        return None
    size = plan.options.population
    before = range((interval - 1) * size, interval * size)
    ranked = [one for one in standings(history, plan.objective, plan.rungs) if one.trial in before]
    n_copying = max(1, int(size * COPYING))
    own = before[member]
    strong = [one.trial for one in ranked[:n_copying] if not one.failed]
    weak = [one.trial for one in ranked[-n_copying:]] + [one.trial for one in ranked if one.failed]
    if own not in weak:
        return own
    if not strong:
        return None
    rng = stream(plan.options.seed, "pbt", "copy", interval, member)
    return strong[int(rng.integers(len(strong)))]


def refuse_short_intervals(space: Space, plan: Plan) -> None:
    """Raises UsageError if an interval is shorter than a rollout of the target, or of values that the space
    allows: then a member would learn from less data than its settings say."""
    samples = [space.sample(0, "rollout", i) for i in range(SAMPLED)]
    valid = [one for one in samples if not space.problem(one)]
    for config in (space.config(one).config for one in (None, *valid)):
        n_steps = config.initial_hyperparameters().rollout_length().steps
        if n_steps is None:  # whole episodes
            continue
        rollout = config.env.n_envs * n_steps
        if rollout > plan.budget:
            needed = rollout * plan.options.generations
            raise UsageError(
                f"an interval of {plan.budget:,} env steps is shorter than a rollout of {rollout:,} "
                f"(env.n_envs {config.env.n_envs} x {n_steps} steps)",
                fix=f"set stop.env_steps to {needed:,} or more, use fewer `generations` than "
                f"{plan.options.generations}, or smaller values of algo.n_steps or env.n_envs",
            )


def propose(space: Space, plan: Plan, history: History, number: int) -> dict[str, PlainValue]:
    """Returns the values of trial `number`: a start that covers the space, the values of the member before,
    or changed ones of the member that it copies."""
    interval, member = divmod(number, plan.options.population)
    parent = source(plan, history, interval, member)
    assignment = None if parent is None else history.trials[parent].assignment
    if assignment is None:
        return next(draw_startup(space, plan, number))
    if parent == number - plan.options.population:
        return dict(assignment)
    rng = stream(plan.options.seed, "pbt", "change", interval, member)
    changed: dict[str, PlainValue] = {}
    for parameter in space.parameters:
        new, direction, fresh = rng.random(), rng.random(), rng.random()
        if not is_active(parameter, changed):
            continue
        value = assignment.get(parameter.name)
        if value is None or new < RESAMPLED:
            changed[parameter.name] = parameter.from_unit(fresh)
        elif isinstance(parameter, Choices) and not parameter.is_ordered:
            changed[parameter.name] = value
        else:
            width = CHANGE if not isinstance(parameter, Choices) else 1 / max(parameter.size - 1, 1)
            share = parameter.to_unit(value) + (width if direction < 0.5 else -width)
            changed[parameter.name] = parameter.from_unit(min(max(share, 0.0), 1.0))
    return changed
