"""Opens a foreign run: finds its files, chooses the table of names, and makes its rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from gymnast.errors import GymnastError, RunError
from gymnast.foreign import hyperparameters as hyper
from gymnast.foreign.find import read_log
from gymnast.foreign.libraries import OWN, Library, library_of, mapped_names, own_names
from gymnast.foreign.log import ENV_STEPS, RunLog
from gymnast.foreign.reference import ForeignOptions, foreign_path
from gymnast.foreign.rows import make_rows
from gymnast.foreign.run import ForeignRun, Row
from gymnast.foreign.wandb_online import PREFIX, read_wandb_run
from gymnast.text.formatting import count_noun

MAX_NAMES = 12
"""Number of unknown names in a message."""
ENTROPY, ENTROPY_SHARE = "policy/entropy", "policy/entropy_share"
_NO_MAXIMUM = (
    "the entropy has no known maximum, because the number of actions is unknown (--env ENV)"
)


def open_foreign(ref: str, options: ForeignOptions | None = None) -> ForeignRun:
    """Returns the foreign run that `ref` names: a path of a file or folder, or `wandb:ENTITY/PROJECT/RUN`.
    Raises RunError if it names none (`names_foreign_run`), or if its files cannot be read."""
    options = options or ForeignOptions()
    if ref.startswith(PREFIX):
        log, name = read_wandb_run(ref)
    elif (path := foreign_path(ref)) is not None:
        log, name = read_log(path, mapped=options.column_map is not None)
    else:
        raise RunError(f"{ref!r} names no foreign run", fix="give the path of one, such as ./ppo")
    return _run(ref, name, log, options)


def _run(ref: str, name: str, log: RunLog, options: ForeignOptions) -> ForeignRun:
    library = _library(ref, log.names, options)
    if log.steps_are_calls and options.column_map is None:
        library = replace(library, step_is_env_steps=False)
    rows = make_rows(log.logged, library, ref)
    if not rows:
        detail = f" ({log.problems[0]})" if log.problems else ""
        raise RunError(f"has no rows with a known metric{detail}", at=ref, fix="train for longer")
    found = hyper.flat(log.hyperparameters)
    settings = hyper.to_settings(found, library, rows)
    if library.name == OWN:
        settings |= hyper.own_settings(log.hyperparameters)
    env = options.env or log.env or hyper.first_text(found, library.env)
    facts = _facts(env)
    threshold, source = _threshold(env, facts, options)
    n_actions, note = _n_actions(found, facts, rows, env)
    _add_derived(rows, n_actions, hyper.first_number(found, library.budget))
    return ForeignRun(
        id=name,
        path=ref,
        format=log.format,
        files=log.files,
        library=library,
        rows=tuple(rows),
        hyperparameters=found,
        settings=settings,
        env=env,
        threshold=threshold,
        threshold_source=source,
        n_actions=n_actions,
        ended=log.ended,
        problems=log.problems,
        notes=tuple(filter(None, (note, _unknown_names(log.names, library)))),
    )


def _library(ref: str, names: Collection[str], options: ForeignOptions) -> Library:
    """Returns the table of names of a run. Raises RunError if none of its names is known."""
    if options.column_map is not None:
        from gymnast.foreign.column_map import read_column_map

        mapped = read_column_map(options.column_map)
        library = mapped_names(mapped.columns)
        if library.known(names):
            return library
        wanted = ", ".join(library.metrics)
        problem = f"has none of the names in {options.column_map} ({wanted})"
    else:
        library = own_names(names) if ENV_STEPS in names else library_of(names)
        if library is not None and library.known(names):
            return library
        problem = "has no metric with a known name"
    found = ", ".join(list(names)[:MAX_NAMES]) or "nothing"
    fix = "name its metrics in a column map (--map FILE, docs/foreign-runs.md)"
    raise RunError(f"{problem}; it has {found}", at=ref, fix=fix)


def _unknown_names(names: Sequence[str], library: Library) -> str:
    """Returns a sentence about the names that have no metric; empty if there are none."""
    used = {*library.metrics, *library.unused, *library.env_steps}
    unknown = [name for name in names if name not in used]
    if not unknown:
        return ""
    more = f" and {len(unknown) - MAX_NAMES} more" if len(unknown) > MAX_NAMES else ""
    return f"no metric of gymnast, and not used: {', '.join(unknown[:MAX_NAMES])}{more}"


def _facts(env: str) -> Mapping[str, object]:
    """Returns the facts of the environment's preset, as plain values; empty if it has no preset."""
    if not env:
        return {}
    from gymnast.config.resolve import resolve_without_code

    try:
        resolved = resolve_without_code(env)
    except GymnastError:
        return {}
    return resolved.config.facts.model_dump(mode="json") if resolved.has_preset else {}


def _threshold(
    env: str, facts: Mapping[str, object], options: ForeignOptions
) -> tuple[float | None, str]:
    if options.threshold is not None:
        return options.threshold, "given"
    value = facts.get("threshold")
    return (float(value), f"of {env}") if isinstance(value, int | float) else (None, "")


def _n_actions(
    hyperparameters: Mapping[str, object],
    facts: Mapping[str, object],
    rows: Sequence[Row],
    env: str,
) -> tuple[int | None, str]:
    """Returns the number of actions of a Discrete space, and a note if what is known contradicts the entropy
    that was logged."""
    if any("policy/log_std" in row for row in rows):  # a Gaussian policy
        return None, ""
    known = hyperparameters.get("n_actions")
    keys, labels = facts.get("keys"), facts.get("actions")
    if not isinstance(known, int):
        is_discrete = isinstance(keys, Mapping) and all(isinstance(k, int) for k in keys.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        is_discrete = is_discrete and not facts.get("options")
        known = len(labels) if is_discrete and isinstance(labels, list | tuple) else 0  # pyright: ignore[reportUnknownArgumentType]
    if known < 2:
        has_entropy = any(ENTROPY in row for row in rows)
        return None, _NO_MAXIMUM if has_entropy else ""
    highest = max((row[ENTROPY] for row in rows if ENTROPY in row), default=0.0)
    if highest > math.log(known) + 1e-3:
        note = (
            f"the entropy reaches {highest:.3g} nats, more than {count_noun(known, 'action')} allow"
        )
        return None, f"{note}: is the environment {env or 'known'}?"
    return known, ""


def _add_derived(rows: Sequence[Row], n_actions: int | None, budget: float | None) -> None:
    """Adds the metrics that follow from others: the entropy as a share of its maximum, and the share of the
    budget."""
    for row in rows:
        if n_actions is not None and ENTROPY in row:
            row.setdefault(ENTROPY_SHARE, row[ENTROPY] / math.log(n_actions))
        if budget:
            row.setdefault("progress/share", min(row[ENV_STEPS] / budget, 1.0))
