"""The pages of the app as JSON: each is the result of an operation."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from starlette.requests import Request

from gymnast.api import OPERATIONS
from gymnast.serving.calls import Exposed
from gymnast.studio.operations import exposed
from gymnast.studio.requests import query_arguments


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    path: str
    """Path below the prefix; {run} stands for a run or a study."""
    operation: str
    """The operation whose result the page shows."""
    argument: str = ""
    """Argument of the operation that gets the run or study of the path."""


RUN_TABS = {
    "charts": "charts",
    "episodes": "episodes",
    "diagnosis": "doctor",
    "config": "config_show",
    "events": "events",
    "checkpoints": "show",
    "films": "show",
}
"""Tab of a run's page -> operation."""
PAGES = (
    Page("", "runs"),
    Page("new", "settings_form" if "settings_form" in OPERATIONS else "presets"),
    Page("compare", "compare"),
    Page("monitor", "monitor"),
    Page("run/{run}", "show", "ref"),
    *(
        Page(f"run/{{run}}/{tab}", operation, "name" if operation == "config_show" else "ref")
        for tab, operation in RUN_TABS.items()
    ),
    Page("sweeps", "sweep_list"),
    Page("sweeps/{run}", "sweep_status", "study"),
    Page("selfplay/{run}", "self_play" if "self_play" in OPERATIONS else "league", "ref"),
)
LISTS = {"compare": {"runs": "refs"}, "monitor": {"runs": "refs", "approaches": "approaches"}}
"""Operation -> parameter of its page with a list, such as `runs=a,b` -> argument. A comma inside a name is
escaped."""
FORMAT = "format"
"""Parameter with which a page is asked for as JSON; the header `Accept` does the same."""


def wants_json(request: Request) -> bool:
    """Returns whether a request asks for the data of a page and not for the page."""
    if request.query_params.get(FORMAT) == "json":
        return True
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def find_page(path: str) -> tuple[Page, str] | None:
    """Returns the page at a path and the run that the path names; None if there is no such page."""
    parts = path.strip("/").split("/")
    for page in PAGES:
        wanted = page.path.split("/")
        if len(parts) == len(wanted) and all(
            part == name or (name == "{run}" and part)
            for part, name in zip(parts, wanted, strict=True)
        ):
            run = parts[1] if "{run}" in wanted else ""
            return page, run
    return None


def page_call(page: Page, run: str, request: Request) -> tuple[Exposed, dict[str, object]]:
    """Returns the operation of a page and its arguments: the run, and the parameters that the operation
    has. Others belong to the view. Raises UnusableRequest."""
    operation = exposed()[page.operation]
    given = [(key, text) for key, text in request.query_params.multi_items()]
    for name, argument in LISTS.get(page.operation, {}).items():
        items = [item for key, text in given if key == name for item in text.split(",") if item]
        given = [(key, text) for key, text in given if key != name]
        given += [(argument, unquote(item)) for item in items]
    known = [(key, text) for key, text in given if key in operation.arguments]
    arguments = query_arguments(operation, known)
    return operation, arguments | ({page.argument: run} if page.argument else {})
