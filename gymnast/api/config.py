"""Settings: showing, checking, formatting and comparing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gymnast.api.overrides import Overrides, parse_overrides
from gymnast.config.form import SettingsForm, make_form
from gymnast.config.problems import ConfigProblem
from gymnast.runs import store
from gymnast.runs.store import RunsDir

if TYPE_CHECKING:
    from gymnast.config.config import Config


@dataclass(frozen=True)
class Settings:
    """Every setting of a run, a preset or an environment."""

    name: str
    """The run or preset, with a note about where the defaults come from."""
    config: Mapping[str, object]
    """Nested plain values."""
    values: Mapping[str, object]
    """Dotted key -> plain value."""
    provenance: dict[str, str]
    """Dotted key -> where its value came from; keys with the default value may be missing."""


@dataclass(frozen=True)
class ConfigCheck:
    checked: list[str]
    """The presets and files that were checked."""
    wrong: int
    """Number of these that have problems."""
    problems: list[ConfigProblem]


@dataclass(frozen=True)
class ConfigDifference:
    key: str
    """Dotted key."""
    a: object
    """The value on the first side; None if it lacks the key."""
    b: object


@dataclass(frozen=True)
class FormattedFile:
    path: str
    changed: bool
    """Whether the file was, or with `check` would be, changed."""


def config_show(
    name: str,
    overrides: Overrides = (),
    *,
    runs_dir: RunsDir = None,
) -> Settings:
    """Returns the settings of a run, a preset or an environment, and where each value came from.
    `overrides`: dotted key -> value, or KEY=VALUE texts as with --set, applied to these settings."""
    from gymnast.config.serialize import flat_values, to_plain

    title, config, provenance = _settings(
        name, parse_overrides(overrides), store.runs_dir(runs_dir)
    )
    return Settings(title, to_plain(config), flat_values(config), provenance)


def settings_form(
    target: str, *, algo: str | None = None, overrides: Sequence[str] = ()
) -> SettingsForm:
    """Returns all settings of `ENV[:variant]` as the fields of a form: their kinds, meanings, values and
    origins. Needs no environment, so it can be called while a user is typing. `overrides`: KEY=VALUE texts as
    with --set; wrong ones are returned as problems, with the message of --set. `algo`: the algorithm to use
    instead of the one of the variant; a user-defined one is imported."""
    return make_form(target, overrides, algo)


def config_check(targets: Sequence[str] = ()) -> ConfigCheck:
    """Returns the problems of these presets or config files; of all presets if none is given."""
    from gymnast.config.check import check

    by_target = check(targets)
    problems = [problem for of_target in by_target.values() for problem in of_target]
    return ConfigCheck(
        checked=list(by_target),
        wrong=sum(bool(of_target) for of_target in by_target.values()),
        problems=[ConfigProblem.from_problem(problem) for problem in problems],
    )


def config_fmt(files: Sequence[str], *, check: bool = False) -> list[FormattedFile]:
    """Sorts the keys of config files into canonical order and keeps their comments. With `check`, nothing is
    written. Raises ConfigError if one of them is not a config file; all stay as they were then."""
    from gymnast.config.fmt import format_config
    from gymnast.errors import UsageError
    from gymnast.runs import durable

    try:
        before = {file: Path(file).read_text(encoding="utf-8") for file in files}
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", at=str(error.filename)) from None
    # All files are formatted before the first is written: an error in one leaves all as they were.
    after = {file: format_config(text, file) for file, text in before.items()}
    changed = {file: after[file] != text for file, text in before.items()}
    for file, text in after.items():
        if changed[file] and not check:
            durable.replace(Path(file), text.encode())
    return [FormattedFile(file, changed[file]) for file in before]


def config_diff(a: str, b: str, *, runs_dir: RunsDir = None) -> list[ConfigDifference]:
    """Returns the settings that differ between two runs or presets."""
    from gymnast.config.serialize import diff

    left, right = (_settings(name, {}, store.runs_dir(runs_dir))[1] for name in (a, b))
    return [ConfigDifference(*difference) for difference in diff(left, right)]


def _settings(
    name: str, overrides: Mapping[str, object], directory: Path
) -> tuple[str, Config, dict[str, str]]:
    """Returns a title, the config, and config key -> origin of its value."""
    from gymnast.config.resolve import apply_overrides
    from gymnast.insight.settings import settings_in_use, settings_of_environment

    run = store.find_run(name, directory)
    if run is None:
        return settings_of_environment(name, overrides)
    config, origins = settings_in_use(run)
    if overrides:
        config, origins = apply_overrides(config, overrides, provenance=origins)
    return f"run {run.path}", config, origins
