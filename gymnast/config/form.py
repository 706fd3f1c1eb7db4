"""The settings of a target as the fields of a form, generated from the sections of the config.

No environment is created, so a form takes milliseconds and can be made while a user is typing. What the
environment's spaces decide is therefore unknown here: their defaults are missing, and a setting counts as
applicable if it applies to any spaces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from typing import Literal

from gymnast.config import presets
from gymnast.config.applies import Applies, Context
from gymnast.config.field_spec import FieldSpec, Kind, kind_of_value, section_specs
from gymnast.config.live import live_keys
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import ConfigProblem, InvalidConfig, Problem
from gymnast.config.resolve import ResolvedConfig, parse_assignment, resolve_preset
from gymnast.config.section import Section
from gymnast.config.sections import ALGORITHMS
from gymnast.config.serialize import to_plain
from gymnast.config.target import split_target
from gymnast.errors import ConfigError
from gymnast.records import to_json

LayerName = Literal["default", "preset", "variant", "command line"]
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
GENERAL = "general"
"""Name of the section with the settings that belong to no section of the config."""


@dataclass(frozen=True)
class FormField:
    """One setting."""

    key: str
    """Dotted key, as with --set."""
    kind: Kind
    """The kind of its values. Numbers may also be written as 50k, 2M or 25%, or as one of `choices`."""
    doc: str
    """The meaning of the setting."""
    value: object
    """The present value, as plain JSON."""
    text: str
    """The present value as it is written after `KEY=`."""
    default: object
    """The value without preset and overrides; None if there is none."""
    origin: str
    """The place that the value comes from, such as `variant ppo, CartPole-v1.yaml:12`."""
    layer: LayerName
    """The kind of this place."""
    choices: list[str]
    """The accepted words, as they are written after `KEY=`: all values of a choice or switch, and words that
    may replace a value of another kind, such as off and auto."""
    schedulable: bool
    """Whether it may be a schedule, such as `3e-4 -> 0`."""
    live: bool
    """Whether it can be changed while a run is training."""
    applies: bool
    """Whether it has an effect, given the other values."""
    condition: str
    """Completes the sentence "It applies only ..."; empty if it always applies."""
    low: float | None
    """Lower bound of a number, which may itself be excluded; None if there is none."""
    high: float | None
    """Upper bound of a number."""


@dataclass(frozen=True)
class FormSection:
    """The fields of one section of the config."""

    name: str
    """Dotted name of the section; `general` for settings that belong to none."""
    doc: str
    fields: list[FormField]


@dataclass(frozen=True)
class SettingsForm:
    """All settings of a target, with the valid ones of the overrides applied."""

    target: str
    """`ENV:variant`, in full."""
    title: str
    """The target, with a note if there is no preset for it."""
    algorithms: list[str]
    """The algorithms to choose from."""
    sections: list[FormSection]
    """Every setting is in one of them. A mapping with names of the user's choice is a field of its own, and
    each of its entries is a field or a section."""
    problems: list[ConfigProblem]
    """The mistakes in the overrides, with the messages of `--set`."""
    unknown: list[str]
    """Keys of overrides that are no settings."""
    space_defaults: bool
    """Whether further defaults are chosen by the environment's spaces when it is trained."""


def make_form(target: str, overrides: Sequence[str] = (), algo: str | None = None) -> SettingsForm:
    """Returns the form of a target. `overrides`: KEY=VALUE texts as with --set; wrong ones are left out and
    reported as problems. Raises ConfigError if the target itself is wrong, or the algorithm unknown."""
    name, variant = split_target(target)
    preset = presets.find_preset(name)
    if preset.path is not None:
        preset = _read_once(preset, preset.path.stat().st_mtime_ns)
    assignments, malformed = _parse(overrides)
    resolved, problems = _resolve_valid(preset, variant, assignments, algo)
    resolved = replace(resolved, requested_env=name)
    algorithm = resolved.config.algo.name
    custom = [] if algorithm in ALGORITHMS else [algorithm]
    return SettingsForm(
        target=resolved.preset,
        title=resolved.title,
        algorithms=[*ALGORITHMS, *custom],
        sections=list(_sections(_Values(resolved))),
        problems=[*malformed, *(ConfigProblem.from_problem(problem) for problem in problems)],
        unknown=[problem.key for problem in problems if problem.is_unknown_key],
        space_defaults=resolved.space_defaults,
    )


@lru_cache(maxsize=64)
def _read_once(preset: presets.Preset, _modified: int) -> presets.Preset:
    """Returns the preset that was read before: reading the file takes longer than everything else. Its
    modification time makes sure that a file that was edited is read again."""
    return preset


def _parse(texts: Sequence[str]) -> tuple[dict[str, PlainValue], list[ConfigProblem]]:
    """Returns the assignments of KEY=VALUE texts, and a problem for each text that is none."""
    assignments: dict[str, PlainValue] = {}
    problems: list[ConfigProblem] = []
    for text in texts:
        try:
            key, value = parse_assignment(text)
            assignments[key] = value
        except ConfigError as error:
            key, message = text.partition("=")[0].strip(), str(error)
            problems.append(ConfigProblem("", key, message, message))
    return assignments, problems


def _resolve_valid(
    preset: presets.Preset,
    variant: str | None,
    assignments: Mapping[str, PlainValue],
    algo: str | None,
) -> tuple[ResolvedConfig, list[Problem]]:
    """Returns the config with all valid assignments, and the problems of the others. Some problems are found
    only after others are out of the way: contradictions between settings whose values are valid."""
    accepted, problems = dict(assignments), list[Problem]()
    while True:
        try:
            return resolve_preset(preset, variant, accepted, algo=algo), problems
        except ConfigError as error:
            if not accepted:  # the target itself is wrong
                raise
            details = error.details if isinstance(error, InvalidConfig) else []
            found = details or [Problem("", "", str(error))]
        problems += [problem for problem in found if problem not in problems]
        wrong = [key for key in accepted if any(_concerns(problem, key) for problem in found)]
        # A contradiction may be reported at a key of the preset: then the newest assignment has to go.
        for key in wrong or [*accepted][-1:]:
            del accepted[key]


def _concerns(problem: Problem, key: str) -> bool:
    """True if a problem is about this key, or about one above or below it."""
    return f"{problem.key}.".startswith(f"{key}.") or f"{key}.".startswith(f"{problem.key}.")


class _Values:
    """Everything that the fields of a form are looked up in."""

    def __init__(self, resolved: ResolvedConfig) -> None:
        self.config = resolved.config
        self.plain = to_plain(self.config)
        self.defaults = _default_values(self.config.env.id, self.config.algo.name)
        self.origins = resolved.provenance
        self.live = set(live_keys(self.config))
        self.contexts = [Context(self.config, *flags) for flags in product((False, True), repeat=4)]

    def applies(self, declarations: Sequence[Applies]) -> bool:
        """True if all conditions hold, with some spaces of the environment, which are not known here."""
        return any(all(one.condition(on) for one in declarations) for on in self.contexts)

    def origin(self, key: str) -> str:
        """Returns the origin of a value; of a mapping those of its entries."""
        if key in self.origins:
            return self.origins[key]
        inner = [origin for k, origin in self.origins.items() if k.startswith(f"{key}.")]
        return ", ".join(dict.fromkeys(inner)) or "default"


@lru_cache(maxsize=64)
def _default_values(env: str, algorithm: str) -> dict[str, PlainValue]:
    """Returns the config of an environment without a preset, as nested plain values."""
    return to_plain(resolve_preset(presets.Preset(env), None, algo=algorithm).config)


def _sections(values: _Values) -> Iterator[FormSection]:
    """Yields the sections of the config in its order; those inside of a section follow it."""
    doc = "Settings of the whole run."
    found = list(_walk(values.config, values.plain, values.defaults, "", doc, (), values))
    yield FormSection(GENERAL, doc, found[0].fields)
    yield from (section for section in found[1:] if section.fields)


def _walk(
    section: Section,
    plain: Mapping[str, PlainValue],
    defaults: object,
    path: str,
    doc: str,
    inherited: tuple[Applies, ...],
    values: _Values,
) -> Iterator[FormSection]:
    """Yields a section with its fields, and then those inside of it. `plain` and `defaults`: its values and
    default values; `path`: its dotted name; `inherited`: the conditions of the sections around it."""
    fields: list[FormField] = []
    inner: list[FormSection] = []
    for name, spec in section_specs(type(section)).items():
        key, value = f"{path}.{name}" if path else name, getattr(section, name)
        conditions = (*inherited, *spec.applies)
        default = defaults.get(name) if isinstance(defaults, dict) else spec.default
        if isinstance(value, Section):
            inner += _walk(value, _mapping(plain[name]), default, key, spec.doc, conditions, values)
            continue
        fields.append(_field(key, spec, plain[name], default, conditions, values))
        for entry, one in value.items() if spec.kind == "mapping" else ():
            entry_key, entry_value = f"{key}.{entry}", _mapping(plain[name])[entry]
            if isinstance(one, Section):
                own = _walk(
                    one, _mapping(entry_value), None, entry_key, spec.doc, conditions, values
                )
                inner += own
            else:
                entry_spec = spec.entry(kind_of_value(entry_value))
                fields.append(_field(entry_key, entry_spec, entry_value, None, conditions, values))
    if fields or path:
        yield FormSection(path, doc, fields)
    yield from inner


def _mapping(value: PlainValue) -> dict[str, PlainValue]:
    assert isinstance(value, dict)
    return {str(key): item for key, item in value.items()}


def _field(
    key: str,
    spec: FieldSpec,
    value: PlainValue,
    default: object,
    conditions: tuple[Applies, ...],
    values: _Values,
) -> FormField:
    origin = values.origin(key)
    return FormField(
        key=key,
        kind=spec.kind,
        doc=spec.doc,
        value=value,
        text=setting_text(value),
        default=default,
        origin=origin,
        layer=_layer(origin),
        choices=[setting_text(word) for word in spec.choices],
        schedulable=spec.schedulable,
        live=key in values.live,
        applies=not conditions or values.applies(conditions),
        condition=" and ".join(one.condition_text for one in conditions),
        low=spec.low,
        high=spec.high,
    )


def _layer(origin: str) -> LayerName:
    """Returns the kind of an origin of `ResolvedConfig.provenance`."""
    if origin.startswith("default"):
        return "default"
    if origin.startswith("variant "):
        return "variant"
    return "command line" if origin in ("--set", "--algo", "name") else "preset"


def setting_text(value: object) -> str:
    """Returns a plain value as it is written after `KEY=`: parsing the text gives the value again."""
    return _quoted(value) if isinstance(value, str) else _one_line(to_json(value))


@cache
def _quoted(text: str) -> str:
    """Returns a text in quotes, unless it is read as the same text without them."""
    is_plain = text.strip() == text and _reads_as(text, text)
    return text if is_plain else _one_line(text)


def _one_line(value: object) -> str:
    """Returns a value as JSON that is also YAML, in which some characters must be escaped and others must
    not."""
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _reads_as(text: str, value: str) -> bool:
    try:
        return parse_assignment(f"key={text}")[1] == value
    except ConfigError:
        return False
