"""The state of a study: a pure function of its journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.journal import Event

Phase = Literal["search", "confirm"]


@dataclass(frozen=True)
class StudyState:
    """Everything that a study has decided and measured."""

    search: History = field(default_factory=History)
    confirm: History = field(default_factory=History)
    """The units on fresh seeds, of the same trials."""
    ended: str = ""
    """The reason why the search is over; empty while it is not."""
    confirmed: bool = False
    """Whether the confirmation is over as well."""
    seconds: float = 0.0
    """Wall time of all processes that have run the study."""
    sessions: int = 0
    """How often the study was started or resumed."""
    confirm_seeds: int | None = None
    """Number of fresh seeds that the confirmation was shortened to, because the time was over; None if it was
    not."""
    started: Mapping[tuple[Phase, int], float] = field(
        default_factory=dict[tuple[Phase, int], float]
    )
    """Phase and number of a unit -> wall time of the study when it was announced."""
    took: Mapping[tuple[Phase, int], float] = field(default_factory=dict[tuple[Phase, int], float])
    """Phase and number of a unit -> seconds from its announcement to its result."""

    def history(self, phase: Phase) -> History:
        return self.search if phase == "search" else self.confirm

    def after(self, event: Event) -> StudyState:
        """Returns the state after an event; events of unknown kinds change nothing."""
        seconds = max(self.seconds, event.get("seconds", 0.0))
        state = self if seconds == self.seconds else replace(self, seconds=seconds)
        kind = event["event"]
        if kind == "unit":
            return state._with_unit(event)
        if kind == "result":
            phase: Phase = event["phase"]
            history = state.history(phase)
            results = {**history.results, event["unit"]: measurement_from(event)}
            key = phase, event["unit"]
            if key in state.started:
                took = state.seconds - state.started[key]
                state = replace(state, took={**state.took, key: took})
            return state._with(phase, replace(history, results=results))
        if kind == "shortened":
            return replace(state, confirm_seeds=event["seeds"])
        if kind == "ended":
            return replace(state, ended=event["reason"])
        if kind == "confirmed":
            return replace(state, confirmed=True)
        if kind == "session":
            # A study that is resumed with a larger budget is not over any more.
            reopened = "" if event.get("reopened") else state.ended
            confirmed = state.confirmed and bool(reopened)
            seeds = None if event.get("reopened") else state.confirm_seeds
            return replace(
                state,
                sessions=state.sessions + 1,
                ended=reopened,
                confirmed=confirmed,
                confirm_seeds=seeds,
            )
        return state

    def _with_unit(self, event: Event) -> StudyState:
        phase: Phase = event["phase"]
        history = self.history(phase)
        unit = Unit(event["unit"], event["trial"], event["seed"], event["env_steps"])
        trials = history.trials
        if "assignment" in event:
            trials = (*trials, trial_from(event))
        changed = self._with(phase, replace(history, trials=trials, units=(*history.units, unit)))
        started = {**self.started, (phase, unit.number): self.seconds}
        changed = replace(changed, started=started)
        if "assignment" in event:  # the confirmation is about the same trials
            return replace(changed, confirm=replace(changed.confirm, trials=trials))
        return changed

    def _with(self, phase: Phase, history: History) -> StudyState:
        if phase == "search":
            return replace(self, search=history)
        return replace(self, confirm=history)


def state_of(events: Iterable[Event]) -> StudyState:
    """Returns the state after all events of a journal."""
    state = StudyState()
    for event in events:
        state = state.after(event)
    return state


def unit_event(phase: Phase, unit: Unit, trial: Trial | None) -> dict[str, Any]:
    """Returns the event that announces a unit, and with it the trial if it is new. One event, so that there
    is never a trial without a unit."""
    event: dict[str, Any] = {
        "event": "unit",
        "phase": phase,
        "unit": unit.number,
        "trial": unit.trial,
        "seed": unit.seed,
        "env_steps": unit.env_steps,
    }
    if trial is not None:
        event |= {"assignment": trial.assignment, "settings": dict(trial.settings)}
        event |= {"problem": trial.problem} if trial.problem else {}
        event |= {} if trial.source is None else {"source": trial.source}
    return event


def trial_from(event: Event) -> Trial:
    return Trial(
        event["trial"],
        event["assignment"],
        event["settings"],
        event.get("problem", ""),
        event.get("source"),
    )


def result_event(phase: Phase, unit: int, measured: Measurement, seconds: float) -> dict[str, Any]:
    """Returns the event with the result of a unit. `seconds`: wall time of the study so far."""
    return {
        "event": "result",
        "phase": phase,
        "unit": unit,
        "ended": measured.ended,
        "points": [list(point) for point in measured.points],
        "steps": measured.env_steps,
        "trained_seconds": measured.seconds,
        "problem": measured.problem,
        "run": measured.run,
        "seconds": seconds,
    }


def measurement_from(event: Event) -> Measurement:
    return Measurement(
        event["ended"],
        tuple((float(x), float(y)) for x, y in event["points"]),
        event["steps"],
        event["trained_seconds"],
        event["problem"],
        event["run"],
    )
