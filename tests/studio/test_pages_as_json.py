"""Every page of the app is also available as JSON, and the guide works offline."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from gymnast.insight.charts import FAMILIES
from gymnast.metrics.explain import catalog
from gymnast.studio.guide import FOLDER, anchor
from gymnast.studio.operations import exposed
from gymnast.studio.pages import PAGES, Page
from tests.studio.conftest import Trained

ARGUMENTS = {"compare": {"refs": "{first} {second}"}, "settings_form": {"target": "CartPole-v1"}}
"""Operation -> its arguments besides the run; lists are separated by blanks."""


def is_for_matches(page: Page) -> bool:
    return page.path.startswith("selfplay")


def is_about_runs(page: Page) -> bool:
    return not is_for_matches(page) and page.argument != "study"


@pytest.mark.parametrize("page", [*filter(is_about_runs, PAGES)], ids=lambda page: page.path)
def test_a_page_is_the_result_of_its_operation(client: httpx.Client, trained: Trained, page: Page):
    ids = {"first": trained.first.id, "second": trained.second.id}
    arguments: dict[str, str | list[str]] = {}
    for name, text in ARGUMENTS.get(page.operation, {}).items():
        words = text.format(**ids).split(" ")
        arguments[name] = words if len(words) > 1 else words[0]
    view = {"runs": ",".join(ids.values())} if page.operation == "compare" else arguments
    path = f"/{page.path.format(run=trained.first.id)}"
    if page.argument:
        arguments[page.argument] = trained.first.id
    expected = client.get(f"/api/{page.operation}", params=arguments).json()
    assert "code" not in expected
    assert client.get(path, params={**view, "format": "json"}).json() == expected
    by_header = client.get(path, params=view, headers={"accept": "application/json"})
    assert by_header.json() == expected
    browser = "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"
    assert client.get(path, headers={"accept": browser}).text.startswith("<!doctype html>")


def test_the_monitor_has_the_runs_of_the_view(client: httpx.Client, trained: Trained):
    view = {"env": "CartPole-v1", "runs": trained.first.id, "format": "json"}
    report = client.get("/monitor", params=view).json()
    assert [row["run"] for row in report["overview"]] == [trained.first.id]
    assert client.get("/monitor?env=nowhere&format=json").status_code == 400
    asked = client.get("/monitor", params={"env": "CartPole-v1", "format": "json"}).json()
    assert trained.first.id in [row["run"] for row in asked["overview"]]


def test_every_page_names_an_operation_that_is_offered():
    assert {page.operation for page in PAGES} <= set(exposed())


def test_parameters_of_the_view_are_ignored_and_those_of_the_operation_are_checked(
    client: httpx.Client,
):
    assert client.get("/?format=json&sort=score&limit=1").json()["total"] == 3
    assert client.get("/?format=json&limit=x").status_code == 400
    assert client.get("/run/nothing?format=json").status_code == 404


def test_files_that_do_not_exist_are_no_pages(client: httpx.Client):
    assert client.get("/assets/gone-1.js").status_code == 404
    assert client.get("/favicon.ico").status_code == 404
    assert client.get("/run/name.with.dots").status_code == 200


def test_the_guide_has_a_section_for_every_family_of_charts_and_every_metric(client: httpx.Client):
    charts = client.get("/guide").text
    for family in FAMILIES:
        assert f'id="{family}"' in charts, family
    metrics = client.get("/guide/metrics").text
    for name in catalog():
        assert f"<code>{name}</code>" in metrics, name


@pytest.mark.parametrize("path", ["/guide", "/guide/metrics"])
def test_the_guide_needs_nothing_from_elsewhere(client: httpx.Client, path: str):
    page = client.get(path).text
    assert "<script" not in page
    assert "style=" not in page
    for link in re.findall(r'(?:src|href)="([^"]+)"', page):
        target, _, section = link.partition("#")
        answer = client.get(target or path)
        assert answer.status_code == 200, link
        assert not section or f'id="{section}"' in answer.text, link


def test_anchors_are_those_of_the_repository(client: httpx.Client):
    text = (FOLDER / "reading-charts.md").read_text()
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    assert {anchor(title) for title in titles} >= set(FAMILIES)
    assert Path(FOLDER / "style.css").exists()
    assert client.get("/guide/style.css").headers["content-type"].startswith("text/css")
    assert client.get("/guide/reading-charts.md").status_code == 404
