"""The console: content and layout of the live table, plain output, and the state of the terminal
afterwards."""

from __future__ import annotations

import io
import math
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from fcntl import ioctl
from struct import pack
from types import SimpleNamespace

import pytest
from rich.console import Console as Terminal
from rich.console import ConsoleDimensions
from rich.text import Text

from gymnast.metrics.alert import Alert
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.checks import CHECKS, KEYS
from gymnast.metrics.run_history import RunHistory
from gymnast.metrics.sinks.console import Console
from gymnast.metrics.sinks.frame import View, frame
from gymnast.metrics.sinks.history import History
from gymnast.metrics.sinks.live import LiveTable
from gymnast.metrics.specs import METRICS
from gymnast.training.lifecycle.summary import end_text

SUMMARY = {"id": "k3f9a2bc", "solved": True, "reason": "solved", "env_steps": 10, "seconds": 1.0}


def full_row(row, i: int, **more: float) -> dict[str, float]:
    """Returns a row with every metric of the table that a single-agent run has."""
    others = ("clock", "match", "league")
    values = {name: 0.01 * i + 0.5 for name, m in METRICS.items() if m.section not in others}
    values |= {"episode/length": 10.0, "value/explained_variance": 0.5, "policy/clip_fraction": 0.1}
    values |= {"rollout/reward_interval": 1.0, "network/dead_units": 0.1}
    values |= {"optim/rollbacks": 0.0, "optim/update_share": 0.1}
    values |= {"rollout/action_offset": 0.1}
    values |= {"policy/kl": 0.01, "policy/ratio_mean": 1.0, "policy/entropy": 0.5}
    values |= {"rollout/reward_interval": 2.0, "optim/update_share": 0.1, "network/dead_units": 0.1}
    values |= {"progress/share": 0.01 * i, "progress/remaining": 75.0}
    values |= {"eval:clock/env_steps": 1.0, "eval:episode/return": 3.0 * i, "eval:episode/low": i}
    return row(i, values, **more)


def view_of(*rows: dict[str, float], **more) -> View:
    history, alerts = History(), Alerts(METRICS)
    for each in rows:
        history.add(each)
        alerts.check_row(each)
    return View(METRICS, history, alerts.active(), title="CartPole-v1:ppo · seed 0", **more)


def line_of(picture: Text, *words: str) -> Text:
    (found,) = [line for line in picture.split("\n") if all(w in line.plain for w in words)]
    return found


def style_of(line: Text, words: str) -> str:
    """Returns all styles at the first occurrence of these words."""
    at = line.plain.index(words)
    return " ".join(str(span.style) for span in line.spans if span.start <= at < span.end)


def test_improvements_are_green_so_a_falling_loss_is_green_and_a_rising_one_red(row):
    falls = frame(view_of(row(1, value__loss=2.0), row(2, value__loss=1.5)), 100, 40)
    rises = frame(view_of(row(1, value__loss=1.5), row(2, value__loss=2.0)), 100, 40)
    assert style_of(line_of(falls, "loss"), "-0.5") == "green"
    assert style_of(line_of(rises, "loss"), "+0.5") == "red"
    returns = frame(view_of(row(1, episode__return=0.0), row(2, episode__return=0.5)), 100, 40)
    assert style_of(line_of(returns, "return"), "+0.50") == "green"
    neither = frame(view_of(row(1, policy__loss=1.0), row(2, policy__loss=2.0)), 100, 40)
    assert style_of(line_of(neither, "loss"), "+1.0") == "bright_black"


def test_a_value_of_zero_is_displayed(row):
    picture = frame(view_of(row(1, episode__return=-1.0), row(2, episode__return=0.0)), 100, 40)
    assert "0.00" in line_of(picture, "return").plain
    assert "+1.00" in line_of(picture, "return").plain


def test_elapsed_time_is_blue_and_remaining_time_counts_down(row):
    latest = row(1, progress__share=0.25, progress__remaining=30.0, clock__seconds=10.0)
    picture = frame(view_of(latest, since_row=2.0, budget=("env_steps", 4096.0)), 100, 40)
    line = line_of(picture, "elapsed")
    assert "25.0%" in line.plain
    assert "1,024 of 4,096 env steps" in line.plain
    assert style_of(line, "12 s elapsed") == "bold blue"
    assert "28 s left" in line.plain, "not the total of 40 s, and 2 s have passed since the row"


def test_without_a_budget_there_is_no_bar_and_no_remaining_time(row):
    line = frame(view_of(row(1)), 100, 40).split("\n")[1].plain
    assert line == "1,024 env steps  1.0 s elapsed"


def test_a_pause_and_the_help_for_keys_are_displayed(row):
    running = frame(view_of(row(1)), 100, 40)
    assert "paused" not in running.plain
    paused = frame(view_of(row(1), paused=True, keys="c checkpoint   s stop"), 100, 40)
    assert style_of(line_of(paused, "CartPole"), "paused") == "bold yellow"
    assert "c checkpoint   s stop" in paused.plain
    assert len(frame(view_of(full_row(row, 1), keys="c"), 100, 12).split("\n")) <= 12


def test_a_highlighted_metric_with_an_alert_is_bold_and_red(row):
    picture = frame(view_of(row(1, episode__return=math.nan)), 100, 40)
    line = line_of(picture, "✖ episode  return")
    style = style_of(line, "return")
    assert "bold" in style
    assert "red" in style
    assert line.plain.startswith("✖")


def test_alerts_are_listed_below_with_advice_and_their_metrics_join_the_table(row):
    assert not METRICS["policy/ratio_max"].in_table
    picture = frame(view_of(*[row(i, policy__ratio_max=900.0) for i in range(6)]), 100, 40)
    lines = [line.plain for line in picture.split("\n")]
    assert lines[-2].startswith("▲ policy/ratio_max is high")
    assert "Lower algo.lr" in lines[-1]
    assert "900.000" in line_of(picture, "▲ policy  ratio_max").plain


@pytest.mark.parametrize(("width", "height"), [(200, 60), (100, 40), (80, 24), (60, 16), (40, 10)])
def test_a_frame_fits_and_drops_the_least_important_metrics_first(row, width, height):
    more = {"value__loss": math.nan, "policy__kl": 0.5, "rollout__faults": 0.0}
    rows = [full_row(row, i, **more) for i in range(1, 9)]
    picture = frame(view_of(*rows, last_event="checkpoint at 40,960 env steps"), width, height)
    lines = picture.split("\n")
    assert len(lines) <= height
    assert max(line.cell_len for line in lines) <= width
    assert "return" in picture.plain
    assert any(line.plain.startswith("✖ value") for line in lines), (
        "a metric with an alert is never dropped"
    )
    assert ("memory" in picture.plain) == (height >= 40)


def unhealthy(row, n: int = 8) -> View:
    """Returns a view with two alerts: one of a healthy range, one of a check."""
    rows = [
        row(i, policy__kl=0.5, episode__return=20.0, progress__share=0.02 * i) for i in range(n)
    ]
    view = view_of(*rows)
    assert [a.id for a in view.alerts] == ["policy/kl:high"]
    stalled = CHECKS["episode/return:stalled"]
    advice = stalled.remedy(RunHistory(KEYS, {})).text({})
    more = Alert(stalled.id, "warning", "the training return has not risen", advice, 0, 9, 9, True)
    return replace(view, alerts=[more, *view.alerts])


@pytest.mark.parametrize("width", [40, 60, 100])
def test_numbers_are_never_truncated_and_alerts_are_complete_at_any_width(row, width):
    picture = frame(unhealthy(row), width, 40)
    lines = picture.split("\n")
    assert max(line.cell_len for line in lines) <= width
    assert "0.5000" in line_of(picture, "▲ policy ", "kl").plain
    assert "20.00" in line_of(picture, "▲ episode ", "return").plain
    text = " ".join(line.plain.strip() for line in lines)
    assert "the training return has not risen" in text
    assert "See which other alerts came first" in text, "with its advice"
    assert "healthy is at most 0.05 nats" in text


def test_if_space_is_short_the_first_alert_is_displayed_and_the_others_are_counted(row):
    lines = [line.plain for line in frame(unhealthy(row), 60, 12).split("\n")]
    assert len(lines) <= 12
    assert any(line.startswith("▲ the training return has not risen") for line in lines)
    assert lines[-1] == "  and 1 more"


def test_a_pinned_metric_joins_the_table_and_is_dropped_last(row):
    rows = [full_row(row, i) for i in (1, 2)]
    pinned = ("optim/param_norm", "eval:episode/iqm", "no/such")
    assert not METRICS["optim/param_norm"].in_table
    assert "param_norm" not in frame(view_of(*rows), 100, 60).plain
    assert "param_norm" in frame(view_of(*rows, pinned=pinned), 100, 60).plain
    small = frame(view_of(*rows, pinned=pinned), 100, 7).plain
    assert "param_norm" in small
    assert "memory" not in small


def test_a_pinned_metric_joins_the_plain_line(row):
    out = io.StringIO()
    console = Console(METRICS, file=out, pinned=("optim/param_norm",))
    console.write(row(1, optim__param_norm=12.5, optim__update_norm=1.0), [])
    console.close(None)
    assert "optim/param_norm 12.50" in out.getvalue()
    assert "update_norm" not in out.getvalue()


def test_each_frame_fits_the_current_size_of_the_terminal(row):
    terminal = Terminal(file=io.StringIO(), force_terminal=True, width=100, height=30)
    table = LiveTable(terminal, METRICS, "CartPole-v1:ppo", {"env_steps": 1e6})
    frames: list[Text] = []
    table._live = SimpleNamespace(update=lambda text, **_: frames.append(text))  # type: ignore[assignment]
    table.write(full_row(row, 1), [])
    for width, height in ((100, 30), (40, 12), (132, 50)):
        terminal.size = ConsoleDimensions(width, height)
        table._draw()
    sizes = [(max(line.cell_len for line in t.split("\n")), len(t.split("\n"))) for t in frames]
    assert all(w < t for (w, _), t in zip(sizes, (100, 40, 132), strict=True)), sizes
    assert all(h < t for (_, h), t in zip(sizes, (30, 12, 50), strict=True)), sizes
    assert sizes[2][1] > sizes[0][1] > sizes[1][1], "a larger terminal displays more"


def test_an_event_leaves_the_table_after_some_rows(row, monkeypatch):
    terminal = Terminal(file=io.StringIO(), force_terminal=True, width=150, height=30)
    table = LiveTable(terminal, METRICS, "CartPole-v1:ppo", {"env_steps": 1e6})
    frames: list[Text] = []
    table._live = SimpleNamespace(update=lambda text, **_: frames.append(text))  # type: ignore[assignment]
    now = [100.0]
    monkeypatch.setattr(
        "gymnast.metrics.sinks.live.time", SimpleNamespace(monotonic=lambda: now[0])
    )
    table.write(row(1), [])
    table.event(
        {"kind": "update rolled back", "env_steps": 2048, "problem": "NaN", "dropped": False}
    )
    for i in range(2, 40):
        now[0] += 1.0
        table.write(row(i), [])
        table._draw()
    shown = ["rolled back at 2,048" in frame.plain for frame in frames]
    assert shown[0]
    assert not shown[-1]
    assert shown == sorted(shown, reverse=True), "it does not come back"
    assert 5 <= sum(shown) <= 20


def test_a_narrow_terminal_breaks_no_number(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    summary = {**SUMMARY, "preset": "CartPole-v1:ppo", "path": "/a/" + "b" * 90}
    for width in range(30, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        out = io.StringIO()
        console = Console(METRICS, format_summary=end_text, file=out)
        console.event(
            {"kind": "stopping", "env_steps": 20_480, "reason": "budget of 20,480 env steps"}
        )
        console.close({**summary, "env_steps": 20_480})  # type: ignore[arg-type]
        lines = Text.from_ansi(out.getvalue()).plain.split("\n")
        assert all(len(line) <= width for line in lines if "bbb" not in line)
        assert "\n".join(lines).count("20,480") == 3
        assert sum("b" * 90 in line for line in lines) == 1, "a path stays in one piece"


def test_the_last_evaluation_stays_in_the_table_between_evaluations(row):
    first = row(1, {"eval:clock/env_steps": 1.0, "eval:episode/return": 5.0})
    second = row(2, {"eval:clock/env_steps": 2.0, "eval:episode/return": 7.0})
    picture = frame(view_of(first, second, row(3), row(4)), 100, 40)
    line = line_of(picture, "eval", "return").plain
    assert "7.00" in line
    assert "+2.00" in line


def test_a_late_evaluation_result_does_not_clear_the_table(row):
    late = row(1, {"eval:clock/env_steps": 2.0, "eval:episode/return": 7.0})
    picture = frame(view_of(row(1, policy__entropy=0.5), late), 100, 40)
    assert "entropy" in picture.plain


def test_history_covers_the_whole_run_in_bounded_memory():
    history = History(limit=16)
    for i in range(1000):
        history.add({"policy/loss": float(i)})
    values = history.values("policy/loss")
    assert len(values) <= 17
    assert values[0] == 0
    assert values[-1] == 999
    assert history.change("policy/loss") == 1


def test_an_ascii_terminal_gets_only_ascii(row):
    rows = [full_row(row, i, value__loss=math.nan) for i in (1, 2)]
    assert frame(view_of(*rows), 80, 24, ascii_only=True).plain.isascii()


def test_the_variable_no_color_disables_color(row, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal(file=io.StringIO(), force_terminal=True, width=100)
    terminal.print(frame(view_of(full_row(row, 1), full_row(row, 2)), 99, 40))
    assert "\x1b[3" not in terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[9" not in terminal.file.getvalue()  # type: ignore[attr-defined]


def test_a_signal_handler_may_close_the_console_while_a_row_is_added(row):
    history = History()

    class Interrupted(dict):
        def __contains__(self, key: object) -> bool:
            history.values("policy/loss")  # like a signal handler that runs in the middle of add()
            return super().__contains__(key)

    history.add(Interrupted(row(1, policy__loss=1.0)))
    assert history.latest("policy/loss") == 1.0


def test_a_metric_that_is_not_in_every_row_keeps_its_latest_value(row):
    history = History()
    history.add(row(1, network__saturated_units=0.25))
    history.add(row(2))
    assert history.latest("network/saturated_units") == 0.25


def test_a_pipe_gets_plain_lines_and_every_evaluation(row):
    out = io.StringIO()
    console = Console(METRICS, format_summary=end_text, file=out)
    console.write(row(1, policy__entropy=0.5), [])
    console.write(row(2, policy__entropy=0.4), [])
    console.write(row(3, {"eval:clock/env_steps": 1.0, "eval:episode/return": 7.0}), [])
    console.event({"kind": "checkpoint", "env_steps": 2048, "reason": "best"})
    console.write(row(4, policy__entropy=0.3), [])
    console.close(SUMMARY)  # type: ignore[arg-type]
    lines = out.getvalue().splitlines()
    assert "\x1b" not in out.getvalue()
    assert "policy/entropy 0.500 nats" in lines[0]
    assert "eval:episode/return 7.00 @1" in lines[1], "row 2 came too soon to be printed"
    assert lines[2] == "checkpoint at 2,048 env steps: reason best"
    assert "4,096 env steps" in lines[3], "the last row is always printed"
    assert lines[4].startswith("solved: ")
    assert "gymnast show k3f9a2bc" in lines[-1]


def test_quiet_prints_only_one_line(row):
    out = io.StringIO()
    console = Console(METRICS, format_summary=end_text, quiet=True, file=out)
    console.write(row(1), [])
    console.event({"kind": "checkpoint"})
    console.close(SUMMARY)  # type: ignore[arg-type]
    assert out.getvalue().startswith("solved: ")
    assert out.getvalue().count("\n") == 1


def test_a_closed_pipe_does_not_stop_training(row):
    reading, writing = os.pipe()
    os.close(reading)
    console = Console(METRICS, format_summary=end_text, file=os.fdopen(writing, "w"))
    console.write(row(1), [])
    console.close(SUMMARY)  # type: ignore[arg-type]


def test_a_row_costs_the_training_loop_less_than_20_microseconds(row, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    out = io.StringIO()
    out.isatty = lambda: True  # type: ignore[method-assign]
    console = Console(METRICS, file=out)
    full = full_row(row, 1)
    console.write(full, [])
    costs, start = [], time.perf_counter()
    for _ in range(2000):
        began = time.perf_counter()
        console.write(full, [])
        costs.append(time.perf_counter() - began)
    console.close(None)
    took = time.perf_counter() - start
    assert sorted(costs)[1000] < 20e-6
    assert out.getvalue().count("training") <= 4 + 4 * took, "drawn at most four times a second"


CHILD = """
import os, sys, time
from gymnast.clock import CLOCKS
from gymnast.metrics.sinks.console import Console
from gymnast.metrics.specs import METRICS
from gymnast.training.lifecycle.summary import end_text
console = Console(METRICS, title="child", format_summary=end_text)
for i in range(1, 1000):
    row = {f"clock/{c}": float(i) for c in CLOCKS}
    console.write(row | {"progress/share": i / 1000, "value/loss": float(i)}, [])
    time.sleep(0.01)
    if i == 60:
        how = sys.argv[1]
        if how == "close":
            console.close({"id": "k3f9a2bc", "solved": True})
            break
        if how == "exception":
            raise RuntimeError("broken on purpose")
        if how == "exit":
            sys.exit(3)
        print("ready", flush=True)
"""


def in_terminal(
    how: str, act: Callable[[subprocess.Popen], None] | None = None
) -> tuple[str, int, bool]:
    """Returns the output of a child process in a terminal, its exit code, and whether the terminal settings
    are unchanged."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(ours)
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, how],
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
        env={k: v for k, v in environment.items() if v},
    )
    os.close(theirs)
    output = b""
    while True:
        try:
            output += os.read(ours, 65536)
        except OSError:  # the child has closed the terminal
            break
        if act is not None and b"ready" in output:
            act(child)
            act = None
    code, same_settings = child.wait(), termios.tcgetattr(ours) == before
    os.close(ours)
    return output.decode(), code, same_settings


@pytest.mark.parametrize(
    ("how", "act", "code"),
    [
        ("close", None, 0),
        ("exception", None, 1),
        ("exit", None, 3),
        ("wait", lambda child: child.send_signal(signal.SIGTERM), -signal.SIGTERM),
        ("wait", lambda child: child.send_signal(signal.SIGINT), None),
        ("wait", lambda child: child.kill(), -signal.SIGKILL),
    ],
    ids=["close", "exception", "exit", "SIGTERM", "SIGINT", "kill-9"],
)
def test_the_terminal_is_usable_however_the_process_ends(how, act, code):
    output, exit_code, same_settings = in_terminal(how, act)
    assert code is None or exit_code == code
    assert same_settings, "no raw mode"
    assert "\x1b[?1049h" not in output, "no alternate screen"
    assert output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l"), "the cursor is visible"
    assert "child" in output
    if how == "exception":
        assert "RuntimeError: broken on purpose" in output
    if how == "close":
        assert output.rstrip().endswith("gymnast show k3f9a2bc")
