"""Arguments of tools: every mistake is named, with the closest valid value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.mcp.parameters import checked_arguments, input_schema, parameters_of
from gymnast.mcp.problem import ToolError
from gymnast.text.suggestions import did_you_mean, suggested


def example(
    _context: object,
    run: str,
    view: Literal["summary", "alerts"] = "summary",
    steps: Annotated[Sequence[int], "at most 4"] = (),
    settings: Mapping[str, object] | None = None,
    seconds: float = 1.0,
    confirm: bool = False,
) -> None: ...


PARAMETERS = parameters_of(example)


def check(**given: Any) -> dict[str, object]:
    return checked_arguments("example", PARAMETERS, given)


def test_the_schema_is_as_short_as_possible():
    assert input_schema(PARAMETERS) == {
        "type": "object",
        "properties": {
            "run": {"type": "string"},
            "view": {"enum": ["summary", "alerts"]},
            "steps": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "at most 4",
            },
            "settings": {"type": "object"},
            "seconds": {"type": "number"},
            "confirm": {"type": "boolean"},
        },
        "required": ["run"],
    }


def test_values_that_models_write_in_another_form_are_accepted():
    given = check(run="a", steps=3, settings='{"algo.lr": 0.1}', seconds="2.5", confirm="true")
    assert given["steps"] == [3]
    assert given["settings"] == {"algo.lr": 0.1}
    assert given["seconds"] == 2.5
    assert given["confirm"] is True
    assert check(run="a", view=None)["view"] == "summary"


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "missing argument: run (a text)", ""),
    ({"run": "a", "veiw": "alerts"}, "unknown argument 'veiw'; did you mean view?", "view"),
    ({"run": "a", "view": "alert"}, 'view is "alert"; did you mean alerts?', "alerts"),
    ({"run": ["a"]}, 'run must be a text, not ["a"]', ""),
    ({"run": True}, "run must be a text, not true", ""),
    ({"run": "a", "steps": ["x"]}, 'steps must be an integer, not "x"', ""),
    ({"run": "a", "steps": {"a": 1}}, 'steps must be a list, not {"a": 1}', ""),
    ({"run": "a", "steps": [1.5]}, "steps must be an integer, not 1.5", ""),
    ({"run": "a", "settings": "[1]"}, 'settings must be an object, not "[1]"', ""),
    ({"run": "a", "seconds": 1e300}, "seconds must be a number, not 1e+300", ""),
    ({"run": "a", "confirm": "perhaps"}, 'confirm must be true or false, not "perhaps"', ""),
    ({"run": "a\0b"}, 'run must be a text, not "a\\u0000b"', ""),
    ({"run": "a", "steps": list(range(101))}, "steps has 101 items", ""),
]


@pytest.mark.parametrize(("given", "message", "nearest"), MISTAKES)
def test_a_mistake_is_named_with_the_closest_value(
    given: dict[str, Any], message: str, nearest: str
):
    with pytest.raises(ToolError) as raised:
        check(**given)
    problem = raised.value.problem
    assert message in problem.message
    assert problem.closest == nearest
    assert problem.code == "usage"
    assert problem.at.startswith("example")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([one.name for one in PARAMETERS]) | st.text(), ANYTHING))
def test_whatever_is_given_is_accepted_or_refused_with_a_message(given: dict[str, Any]):
    try:
        accepted = checked_arguments("example", PARAMETERS, given)
    except ToolError as error:
        refused = error.problem
        assert refused.message
        return
    kinds = {"run": str, "view": str, "steps": (list, tuple), "seconds": float, "confirm": bool}
    for name, kind in kinds.items():
        assert isinstance(accepted.get(name, check(run="x").get(name, kind)), kind) or (
            name not in accepted
        )


@given(
    st.sampled_from(["algo.gamma", "CartPole-v1", "eval:episode/return"]),
    st.integers(1, 3),
)
def test_the_first_suggestion_of_a_message_is_found_again(name: str, n: int):
    known = [name, name + "s", "unrelated"]
    message = f"unknown key {name[:-1]!r}{did_you_mean(name[:-1], known, n)}"
    assert suggested(message) == name
    assert suggested("no suggestion") == ""
