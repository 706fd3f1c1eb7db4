"""The step table of a stored episode: what the policy saw, did and expected at every step.

It is the table of a rollout with this episode alone, made by the function that writes `rollout.csv` next to
each checkpoint. Decisions and values are those of the trace, from the time of acting. Rewards are shaped and
scaled as the learner of the episode's checkpoint would: for a training episode, that is the first checkpoint
after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gymnast.algos.credit import compute_credit
from gymnast.config.sections.reinforce import ReinforceHyperparameters
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.episode_rollout import (
    complete_obs,
    episode_rollout,
    has_policy,
    head_of,
    obs_space_of,
)
from gymnast.inspector.expectation import expected_outcome, value_error
from gymnast.inspector.learner_state import LearnerState, recorded_state, stored_state
from gymnast.inspector.outcome_scale import OutcomeScale, outcome_scale
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.runs.step_columns import COLUMNS, ColumnInfo, StepLists, column_spec, describe_columns
from gymnast.runs.trace import Trace
from gymnast.shaping.shaping import Shaping
from gymnast.spaces.observations import CompositeObs, Observation
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.step_table import StepTargets, obs_columns, step_table

Array = np.ndarray
MAX_MEMORY_UNITS = 16
"""Number of hidden units of a policy with memory that have a column."""


def episode_table(episode: OpenEpisode) -> dict[str, Array]:
    """Returns the columns of the table, one entry per step. `gymnast.runs.step_columns` describes them.
    Columns that need a checkpoint which was removed, or observations that a replay does not reproduce, are
    missing, or NaN from the first unknown step on."""
    trace, head, obs_space = episode.trace, head_of(episode), obs_space_of(episode)
    if head is None or obs_space is None:
        return _without_spaces(trace)
    facts = facts_for_policy_obs(episode.config.facts, episode.config.env, obs_space)
    rollout, state = episode_rollout(episode, head, obs_space), learner_state(episode)
    targets = learned_targets(episode, rollout, state, obs_space)
    table = step_table(rollout, head, facts, targets)
    if _uses_batch_mean(state):
        table.pop("advantage_learned", None)  # the other episodes of the batch are not known
    if targets is None and has_critic(state):
        table["value_learned"] = trace.value
    if not has_policy(trace, head):
        table = {name: column for name, column in table.items() if not _is_of_policy(name)}
    table |= _policy_columns(episode, [c.name for c in facts.observations])
    _blank_unknown(table, known=len(episode.obs))
    if np.isnan(trace.dist).any():
        table.pop("greedy", None)  # the replay of a match differs: later decisions are not known
    table |= {f"term/{name}": rewards for name, rewards in episode.reward_terms.items()}
    if has_policy(trace, head):
        table |= _expectations(episode, rollout, targets, state)
    return _in_order(table)


def column_infos(episode: OpenEpisode) -> list[ColumnInfo]:
    """Returns the descriptions of the columns of an episode's table."""
    facts, obs_space = episode.config.facts, obs_space_of(episode)
    if obs_space is not None:
        facts = facts_for_policy_obs(facts, episode.config.env, obs_space)
    units = {f"obs/{component.name}": component.unit for component in facts.observations}
    scale = scale_of(episode)
    notes: dict[str, str] = {}
    if note := episode.decisions_note:
        notes = {name: note for name in episode.table if _is_of_policy(name)}
    if scale is not None:
        notes["expected_outcome"] = scale.doc
    return describe_columns(episode.table, units, notes)


def scale_of(episode: OpenEpisode) -> OutcomeScale | None:
    """Returns the outcome scale of an episode; None if it is not known."""
    return outcome_scale(episode.config.facts, episode.evaluation_returns())


def as_lists(table: Mapping[str, Array]) -> StepLists:
    """Returns a table as lists; None takes the place of numbers that are not known."""
    lists: StepLists = {}
    for name, column in table.items():
        values = column.tolist()
        unknown = column.dtype.kind == "f" and np.isnan(column).any()
        lists[name] = [None if x != x else x for x in values] if unknown else values
    return lists


def table_note(episode: OpenEpisode) -> str:
    """Returns why columns are missing from an episode's table, in sentences; empty if none are."""
    notes: list[str] = []
    if episode.action_space is None:
        return f"observations and decisions are missing: {episode.env_note}; {episode.policy_note}."
    if "reward_learned" not in episode.table:
        known = len(episode.obs) > len(episode.trace)
        why = (
            f"{episode.policy_note}" if known else "the replay does not reproduce all observations"
        )
        notes.append(f"learned rewards, returns and advantages are missing: {why}.")
    elif (
        not episode.trace.terminated and episode.policy is None and "value_learned" in episode.table
    ):
        what = (
            "the value of the final observation is not known, so returns and advantages are missing"
        )
        notes.append(f"{what}: {episode.policy_note}.")
    return " ".join(notes)


def learner_state(episode: OpenEpisode) -> LearnerState:
    """Returns the learner as it was in the episode's checkpoint; as the metrics recorded it if the checkpoint
    was removed."""
    if episode.checkpoint is not None:
        return stored_state(episode.config, episode.checkpoint, episode.role)
    return recorded_state(episode.config, episode.run, episode.address.version, episode.role)


def has_critic(state: LearnerState) -> bool:
    """Returns whether the algorithm trains a critic, or Q-values."""
    hparams = state.hparams
    return not isinstance(hparams, ReinforceHyperparameters) or hparams.baseline == "learned"


def _uses_batch_mean(state: LearnerState) -> bool:
    """Returns whether advantages depend on the mean return of all episodes of an update."""
    hparams = state.hparams
    return isinstance(hparams, ReinforceHyperparameters) and hparams.baseline == "batch"


def learned_targets(
    episode: OpenEpisode, rollout: Rollout, state: LearnerState, obs_space: Observation
) -> StepTargets | None:
    """Returns rewards, returns and advantages as an update would compute them for this rollout; None if the
    scale of rewards or what the shaping terms read is not known."""
    cfg, hparams, scale = state.config, state.hparams, state.reward_scale
    if scale is None:
        return None
    shaping = Shaping(cfg, obs_space, 1)
    if shaping.terms:
        if len(episode.obs) <= len(episode.trace) or not episode.replay.is_exact:
            return None
        if state.memory is not None:
            shaping.load_memory(state.memory)
        elif shaping.has_memory:
            return None
    factor = cfg.normalize.reward_scale
    shaped, _ = shaping(rollout, state.weights, hparams.gamma)
    reward = scale.scaled(shaped.reward * factor)
    credit = compute_credit(replace(rollout, reward=reward), hparams)
    value = rollout.value if credit is None else credit.value
    if credit is not None and not np.isfinite(credit.advantage).all():
        credit = None  # the value of the final observation is not known
    return StepTargets(
        reward=reward,
        value=value,
        credit=credit,
        raw_per_unit=None if shaping.terms else scale.raw_per_unit(factor),
        gamma=hparams.gamma,
        bootstraps=cfg.algo.bootstraps,
        shaping=shaping.added,
    )


def _expectations(
    episode: OpenEpisode, rollout: Rollout, targets: StepTargets | None, state: LearnerState
) -> dict[str, Array]:
    """Returns the columns that compare the values with what followed."""
    error = None if targets is None else value_error(rollout, targets)
    if error is None:
        return {}
    columns = {"value_error_learned": error}
    assert state.reward_scale is not None
    per_unit = state.reward_scale.raw_per_unit(state.config.normalize.reward_scale)
    scale = scale_of(episode)
    if per_unit is not None and scale is not None:
        total = episode.trace.raw_return
        columns["expected_outcome"] = expected_outcome(total, error, per_unit, scale)
    return columns


def _policy_columns(episode: OpenEpisode, labels: list[str]) -> dict[str, Array]:
    """Returns the columns that need the policy itself: its input, normalized values, Q-values."""
    policy, columns = episode.policy, dict[str, Array]()
    if policy is None:
        return columns
    obs = complete_obs(episode.obs, policy.obs_space, len(episode.trace))[: len(episode.trace)]
    if policy.normalizer is not None and policy.normalizer.mode != "off":
        features = _feature_rows(policy, np.asarray(obs))
        columns |= obs_columns("input", features[:, None], labels)
    if episode.policy_states is not None:
        columns |= _memory_columns(policy, episode.policy_states, len(episode.trace))
    if policy.value_scale.mode != "off":
        columns["value_normalized"] = policy.value_scale.normalized(episode.trace.value)
    # The Q-values of a training episode were those of earlier versions.
    if policy.head.has_q_values and episode.address.kind != "train":
        q = policy.inference.actor(policy.features(np.asarray(obs)))
        names = policy.head.space.option_names(episode.config.facts)
        columns |= {f"q/{name}": q[:, i] for i, name in enumerate(names)}
    return columns


def _memory_columns(policy: Policy, states: Array, steps: int) -> dict[str, Array]:
    """Returns the hidden units of the actor's memory before each step that change most in the episode, by
    their number; NaN where observations are not known. `states`: [n + 1, S]."""
    network = policy.network
    hidden = np.concatenate(
        [
            states[:steps, network.state_slices[name]][:, : layer.n_out]
            for name, layer in network.recurrent_layers()
            if not name.startswith("critic")
        ],
        1,
    )
    chosen = np.sort(np.argsort(-hidden.std(0), kind="stable")[:MAX_MEMORY_UNITS])
    known = np.full((steps, len(chosen)), np.nan)
    known[: len(hidden)] = hidden[:, chosen]
    return {f"memory/{unit}": known[:, i] for i, unit in enumerate(chosen.tolist())}


def _feature_rows(policy: Policy, obs: Array) -> Array:
    """Returns the features of observations [T, ...]: vectors [T, n], or records for a Dict or Tuple."""
    features, space = policy.features(obs), policy.obs_space
    if isinstance(space, CompositeObs):  # a record is passed to the network as its bytes
        return np.ascontiguousarray(features).view(space.dtype)[:, 0]
    return features


def _blank_unknown(table: dict[str, Array], known: int) -> None:
    """Sets what depends on observations after the first `known` ones to NaN."""
    for name, column in table.items():
        if name.startswith(("obs/", "input/", "q/")) and known < len(column):
            numbers = column.astype(np.float64)
            numbers[known:] = np.nan
            table[name] = numbers


def _without_spaces(trace: Trace) -> dict[str, Array]:
    """Returns the columns that need neither the environment nor its policy: both are missing."""
    last = np.arange(len(trace)) == len(trace) - 1
    elements = trace.action.reshape(len(trace), -1).T
    return {
        "step": np.arange(len(trace)),
        **{f"action/{i}": element for i, element in enumerate(elements)},
        "reward_raw": trace.reward,
        "reward_so_far_raw": np.cumsum(trace.reward),
        "return_to_go_raw": np.cumsum(trace.reward[::-1])[::-1],
        "value_learned": trace.value,
        "terminated": last & trace.terminated,
        "truncated": last & trace.truncated,
    }


def _is_of_policy(name: str) -> bool:
    """Returns whether a column describes the decisions of a policy."""
    is_mask = name.startswith("mask/")
    return name == "greedy" or (column_spec(name).group in ("policy", "value") and not is_mask)


def _in_order(table: dict[str, Array]) -> dict[str, Array]:
    """Returns the columns of an episode in the order in which they are declared."""
    order = {id(spec): place for place, spec in enumerate(COLUMNS.values())}
    kept = [name for name in table if column_spec(name).table != "rollout"]
    return {name: table[name] for name in sorted(kept, key=lambda n: order[id(column_spec(n))])}
