"""A read-only studio shows everything and changes nothing: buttons say why, and the server refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from gymnast import api
from tests.browser.conftest import OpenPage
from tests.browser.sample import SampleRuns
from tests.browser.studio import Studio, serving, settle

pytestmark = pytest.mark.slow

ORDERS = {
    "note": {"ref": "fast-s0", "text": "changed"},
    "tag": {"ref": "fast-s0", "tags": ["changed"]},
    "remove": {"refs": ["fast-s0"]},
    "start": {"target": "CartPole-v1"},
    "resume": {"run": "fast-s0"},
    "report": {"ref": "fast-s0"},
    "video": {"ref": "fast-s0"},
    "stop": {"ref": "fast-s0"},
}
"""Operations that change something, with valid arguments."""


@pytest.fixture(scope="module")
def read_only(sample: SampleRuns) -> Iterator[Studio]:
    with serving(sample.path, "--read-only") as studio:
        yield studio


def test_pages_disable_what_changes_something_and_say_why(
    read_only: Studio, sample: SampleRuns, new_page: OpenPage
) -> None:
    page = new_page(read_only)
    expect(page.get_by_text("read-only")).to_be_visible()
    page.get_by_role("checkbox", name="Select fast-s0").check()
    for name in ("Tag", "Note", "Delete"):
        assert_disabled(page, name)
    page.goto(f"{read_only.address}/run/{sample.ids['fast-s0']}/checkpoints")
    settle(page)
    for name in ("Pause", "Stop", "Change a setting…", "Resume…"):
        assert_disabled(page, name)
    assert_disabled(page, "Film")
    expect(page.get_by_role("button", name="+ tag")).to_have_count(0)
    expect(page.get_by_role("button", name="+ note")).to_have_count(0)
    page.goto(f"{read_only.address}/run/{sample.ids['fast-s0']}/films")
    settle(page)
    assert_disabled(page, "Make the film")
    page.goto(f"{read_only.address}/new?target=CartPole-v1")
    settle(page)
    assert_disabled(page, re.compile("^Start"))


def test_the_server_refuses_every_change(
    read_only: Studio, sample: SampleRuns, new_page: OpenPage
) -> None:
    page = new_page(read_only, expected=("status of 403",))
    before = api.show("fast-s0", runs_dir=sample.path)
    for operation, body in ORDERS.items():
        status, code = page.evaluate(
            """async ([operation, body]) => {
              const headers = { "Content-Type": "application/json" };
              const options = { method: "POST", headers, body: JSON.stringify(body) };
              const answer = await fetch(`api/${operation}`, options);
              return [answer.status, (await answer.json()).code];
            }""",
            [operation, body],
        )
        assert (status, code) == (403, "read_only"), operation
    after = api.show("fast-s0", runs_dir=sample.path)
    assert (after.note, after.tags) == (before.note, before.tags)


def test_reading_and_comparing_work(read_only: Studio, new_page: OpenPage) -> None:
    page = new_page(read_only, "/compare?runs=fast,slow")
    expect(page.get_by_role("table", name="Results of each side")).to_contain_text("fast")
    page.goto(f"{read_only.address}/new?target=CartPole-v1")
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("dialog", name="Dry run")).to_contain_text("CartPole-v1:ppo")


def assert_disabled(page: Page, name: str | re.Pattern[str]) -> None:
    button = page.get_by_role("button", name=name, exact=isinstance(name, str)).first
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("aria-description", re.compile("read-only"))
