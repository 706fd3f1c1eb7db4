"""Mistakes in a config, each with its file and line, key, the expected value and the closest known key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gymnast.config.numbers import quote_value
from gymnast.config.plain_value import Scalar
from gymnast.errors import ConfigError
from gymnast.text.suggestions import did_you_mean

Key = tuple[Scalar, ...]
"""Path of a value: ("algo", "lr"), ("facts", "observations", 2)."""

SYNONYMS = {
    "learning_rate": "lr",
    "n_epochs": "epochs",
    "update_epochs": "epochs",
    "num_envs": "n_envs",
    "num_steps": "n_steps",
    "minibatch_size": "batch_size",
    "clip_range": "clip",
    "clip_coef": "clip",
    "clip_range_vf": "value_clip",
    "ent_coef": "entropy_coef",
    "vf_coef": "value_coef",
    "hidden_dims": "hidden",
    "net_arch": "hidden",
    "activation_fn": "activation",
    "total_timesteps": "env_steps",
    "n_timesteps": "env_steps",
    "lambda": "gae_lambda",
    "discount": "gamma",
}
"""Names that other libraries use for our fields -> our names, for suggestions."""


@dataclass(frozen=True)
class Problem:
    at: str
    """`file:line`, `--set`, or empty."""
    key: str
    """Dotted key."""
    text: str
    """Description of the mistake, with the expected value and a suggestion."""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.at, self.key, self.text) if part)

    @property
    def is_unknown_key(self) -> bool:
        return self.text.startswith(_UNKNOWN_KEY)


@dataclass(frozen=True)
class ConfigProblem:
    """A mistake in a preset, a config file or the overrides."""

    at: str
    """`file:line`, `--set`, or empty."""
    key: str
    """Dotted key; empty if it is not about a single one."""
    text: str
    """The description of the mistake, with the expected value."""
    message: str
    """All of this in one line."""

    @staticmethod
    def from_problem(problem: Problem) -> ConfigProblem:
        return ConfigProblem(problem.at, problem.key, problem.text, str(problem))


_UNKNOWN_KEY = "unknown key"


class InvalidConfig(ConfigError):
    """Raised for an invalid config; carries all of its problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.details = list(problems)
        super().__init__([str(problem) for problem in self.details])

    def with_origins(self, origins: Mapping[str, str]) -> InvalidConfig:
        # The problem may be with an entry of a list: track.to.0
        keys = [one.key.rstrip(".0123456789") for one in self.details]
        named = zip(keys, self.details, strict=True)
        return InvalidConfig(replace(one, at=origins.get(key, one.at)) for key, one in named)


def dotted_key(path: Iterable[Scalar]) -> str:
    """Returns `facts.observations.2` for ("facts", "observations", 2)."""
    return ".".join(map(str, path))


def explain_errors(
    error: ValidationError, model: type[BaseModel], locate: Callable[[Key], str]
) -> list[Problem]:
    """Returns every mistake that pydantic found, as a message for the user. `model`: the class that was
    validated; `locate` returns the `file:line` of a key."""
    problems: list[Problem] = []
    for mistake in error.errors(include_url=False):
        if mistake["type"] == "conflicts":
            for key, text in mistake.get("ctx", {})["conflicts"]:
                problems.append(Problem(locate(tuple(key.split("."))), key, text))
            continue
        path = tuple(mistake["loc"])
        text = _text(mistake, path, model)
        problems.append(Problem(locate(path), dotted_key(path), text))
    return problems


def _text(mistake: ErrorDetails, path: Key, model: type[BaseModel]) -> str:
    """Returns our message for one mistake. `mistake`: an entry of `ValidationError.errors()`; `path`: the
    path of its key; `model`: the class of the config that was validated, which provides suggestions."""
    kind, value = mistake["type"], mistake["input"]
    # pydantic writes "Input should be greater than 0"; our messages end in "(expected more than 0)".
    expected = mistake["msg"].removeprefix("Input should be ")
    for phrase, word in _PHRASES.items():
        expected = expected.replace(phrase, word)
    if kind == "extra_forbidden":
        return f"{_UNKNOWN_KEY}{_known_key(path, model)}"
    if kind == "value_error":
        return str(mistake.get("ctx", {})["error"])
    if kind == "missing":
        return "is missing"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"{quote_value(value)} is not a section (expected `key: value` lines)"
    if kind == "literal_error":
        choices = [c.strip("' ") for c in expected.replace(" or ", ",").split(",")]
        guess = did_you_mean(str(value), choices)
        return f"{quote_value(value)} is unknown (expected one of {', '.join(choices)}){guess}"
    if value is None:
        return f"is empty (expected {expected})"
    return f"{quote_value(value)} is not accepted (expected {expected})"


# Longer phrases first: "greater than" is a part of "greater than or equal to".
_PHRASES = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
    "a valid tuple": "a list such as [64, 64]",
    "a valid string": "text",
}


def _known_key(path: Key, model: type[BaseModel]) -> str:
    """Returns a suggestion for an unknown key: the same name in another section, or the closest key here."""
    name = SYNONYMS.get(str(path[-1]), str(path[-1]))
    siblings = fields_at(model, path[:-1])
    elsewhere = [f"{s}.{name}" for s in model.model_fields if name in fields_at(model, (s,))]
    if elsewhere and name not in siblings:
        return f"; did you mean {' or '.join(elsewhere)}?"
    if guess := did_you_mean(name, siblings, n=1):
        return guess.replace("did you mean ", "did you mean " + dotted_key((*path[:-1], "")))
    return f" (known here: {', '.join(siblings)})" if siblings else ""


def fields_at(model: type[BaseModel], path: Key) -> list[str]:
    """Returns the field names of the section at this path; empty if there is no section at this path."""
    section: object = model
    for part in path:
        if get_origin(section) is dict:  # a mapping with user-chosen names: `part` is such a name
            section = get_args(section)[1]
        elif isinstance(section, type) and issubclass(section, BaseModel):
            field = section.model_fields.get(str(part))
            section = field.annotation if field else None
        else:
            return []
    if isinstance(section, type) and issubclass(section, BaseModel):
        return list(section.model_fields)
    return []
