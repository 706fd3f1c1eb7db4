"""Saves and loads the config of a run as YAML: load(save(config)) == config."""

from __future__ import annotations

from io import StringIO
from typing import TypedDict

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode, SequenceNode
from ruamel.yaml.representer import SafeRepresenter

from gymnast.config.algorithms import config_type, is_algorithm, stored_config_type
from gymnast.config.config import Config
from gymnast.config.layers import branches, flatten
from gymnast.config.numbers import quote_value
from gymnast.config.plain_value import PlainMapping, PlainValue
from gymnast.config.problems import InvalidConfig, Problem, dotted_key, explain_errors
from gymnast.config.sections import ALGORITHMS
from gymnast.config.source import Source


def to_plain(config: Config) -> dict[str, PlainValue]:
    """Returns the config as plain numbers, text, lists and dicts; None becomes `off`."""
    return config.model_dump(mode="json")


def flat_values(config: Config) -> dict[str, PlainValue]:
    """Returns dotted key -> plain value, for every leaf."""
    return flat_plain(to_plain(config))


def flat_plain(values: PlainMapping) -> dict[str, PlainValue]:
    """Returns dotted key -> value of a config as plain values, which need not be valid, for every leaf."""
    return {dotted_key(path): value for path, value in flatten(values, branches(Config))}


def save(config: Config) -> str:
    """Returns the config as YAML text, with the keys in the order of the schema."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    yaml.width = 4096  # no line breaks inside of a value: one setting per line keeps diffs readable
    text = StringIO()
    yaml.dump(to_plain(config), text)
    return text.getvalue()


def is_run_config(data: PlainValue) -> bool:
    """True if this is the config of a run, which unlike a preset contains `algo.name`."""
    return "name" in _algo_section(data)


def load(text: str, at: str = "", *, trusted: bool = False) -> Config:
    """Returns the config that was saved. `at`: the file name for error messages; `trusted`: a user-defined
    algorithm is imported, so that its settings are validated. Raises InvalidConfig if the text is not a valid
    config of a run, CodeNotAllowed if its code may not be imported."""
    source = Source.parse(text, str(at))
    name = _algo_section(source.data).get("name")
    if not is_algorithm(str(name)):
        text = f"unknown algorithm {quote_value(name)} (known: {', '.join(ALGORITHMS)})"
        raise InvalidConfig([Problem(source.location(("algo", "name")), "algo.name", text)])
    algo = _algo_section(source.data)
    model = config_type(str(name)) if trusted else stored_config_type(str(name), algo)
    try:
        config = model.model_validate(source.data)
    except ValidationError as error:
        problems = [*source.duplicate_keys, *explain_errors(error, model, source.location)]
        raise InvalidConfig(problems) from None
    if source.duplicate_keys:
        raise InvalidConfig(source.duplicate_keys)
    return config


SettingChange = TypedDict("SettingChange", {"key": str, "from": object, "to": object})
"""A change of one setting, as it is stored in events and checkpoints."""


def setting_changes(a: Config, b: Config) -> list[SettingChange]:
    """Returns the changes of settings that turn the config `a` into `b`."""
    return [{"key": key, "from": before, "to": after} for key, before, after in diff(a, b)]


def diff(a: Config, b: Config) -> list[tuple[str, PlainValue, PlainValue]]:
    """Returns (dotted key, value in a, value in b) for every difference; None where a config lacks the
    key."""
    left, right = flat_values(a), flat_values(b)
    keys = [*left, *(key for key in right if key not in left)]
    return [(k, left.get(k), right.get(k)) for k in keys if left.get(k) != right.get(k)]


def _algo_section(data: PlainValue) -> PlainMapping:
    """Returns the section `algo` of the data of a file; empty if it has none."""
    algo = data.get("algo") if isinstance(data, dict) else None
    return algo if isinstance(algo, dict) else {}


class _Representer(SafeRepresenter):
    """Writes sections as blocks, and lists and their items on one line each."""

    def represent_list(self, data: list[PlainValue]) -> SequenceNode:
        """Returns the node of a list: in one line if it contains only plain values, else one line per
        item."""
        node = super().represent_list(data)
        items = [item for item in node.value if not isinstance(item, ScalarNode)]
        node.flow_style = not items
        for item in items:
            item.flow_style = True
        return node

    def represent_str(self, data: str) -> ScalarNode:
        node = super().represent_str(data)
        if data.startswith(("?", ":")):  # in flow style they would start a complex key or a value
            node.style = "'"
        return node


_Representer.add_representer(list, _Representer.represent_list)
_Representer.add_representer(str, _Representer.represent_str)
