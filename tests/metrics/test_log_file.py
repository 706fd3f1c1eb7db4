"""log.txt: plain text, limited in size, readable while it is written."""

from __future__ import annotations

import logging
import math
import warnings

from gymnast.metrics.alerts import Alerts
from gymnast.metrics.sinks.log import ENDING_BYTES, LogFile
from gymnast.metrics.specs import METRICS


def test_every_line_is_on_disk_immediately(tmp_path, row):
    log = LogFile(tmp_path / "log.txt", METRICS)
    bad = row(1, policy__loss=math.nan)
    log.write(bad, Alerts(METRICS).check_row(bad))
    log.event({"kind": "checkpoint", "env_steps": 1024, "reason": "best"})
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert "error: policy/loss is nan" in lines[0]
    assert "1,024 env steps" in lines[1]
    assert lines[2].endswith("checkpoint at 1,024 env steps: reason best")
    log.close(None)


def test_few_rows_but_all_evaluations_are_logged(tmp_path, row):
    log = LogFile(tmp_path / "log.txt", METRICS)
    for i in range(100):
        log.write(row(i), [])
    log.write(row(100, {"eval:clock/env_steps": 1.0, "eval:episode/return": 7.0}), [])
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert len(lines) == 2
    assert "eval:episode/return 7.00" in lines[1]
    log.close(None)


def test_ansi_escape_codes_are_removed(tmp_path):
    log = LogFile(tmp_path / "log.txt", METRICS)
    log.write_line(
        '\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 50%\r100%\n  File "x.py"\udcff'
    )
    log.close(None)
    text = (tmp_path / "log.txt").read_text()
    assert "\x1b" not in text
    assert [line[20:] for line in text.splitlines()] == [
        "red link 50%",
        "100%",
        '  File "x.py"\\udcff',
    ]


def test_a_full_log_keeps_its_beginning_says_so_once_and_still_gets_the_summary(tmp_path):
    cap = ENDING_BYTES + 3000
    log = LogFile(
        tmp_path / "log.txt", METRICS, format_summary=lambda _: "solved: all is well", cap=cap
    )
    log.write_line("the very first line")
    for i in range(1000):
        log.write_line(f"line {i} " + "x" * 80)
    log.close({"solved": True})
    text = (tmp_path / "log.txt").read_text()
    assert len(text) <= cap
    assert "the very first line" in text.splitlines()[0]
    assert text.count("the log is full") == 1
    assert text.endswith("solved: all is well\n")


def test_another_attempt_appends_to_the_log_within_the_same_cap(tmp_path):
    cap = ENDING_BYTES + 2000
    for attempt in range(4):
        log = LogFile(tmp_path / "log.txt", METRICS, cap=cap)
        for _ in range(20):
            log.write_line(f"attempt {attempt} " + "x" * 40)
        log.close(None)
    assert (tmp_path / "log.txt").stat().st_size <= cap
    assert "attempt 0" in (tmp_path / "log.txt").read_text()


def test_warnings_and_log_records_are_logged_and_still_displayed(tmp_path, monkeypatch):
    displayed = []
    monkeypatch.setattr(warnings, "showwarning", lambda *arguments: displayed.append(arguments[0]))
    log = LogFile(tmp_path / "log.txt", METRICS)
    with log.capture_logging():
        warnings.showwarning(UserWarning("odd space"), UserWarning, "env.py", 7)
        logging.getLogger("worker").error("it broke")
        logging.getLogger("worker").info("not worth keeping")
    logging.getLogger("worker").error("after")
    log.close(None)
    text = (tmp_path / "log.txt").read_text()
    assert "env.py:7: UserWarning: odd space" in text
    assert "error: it broke" in text
    assert "not worth keeping" not in text
    assert "after" not in text
    assert len(displayed) == 1


def test_an_event_line_does_not_list_every_clock(tmp_path):
    score = {"mean": 498.2, "low": 495.1, "high": 500.0, "episodes": 100}
    event = {"kind": "confirmed", "env_steps": 1024, "vec_steps": 128, "seconds": 1.5}
    log = LogFile(tmp_path / "log.txt", METRICS)
    log.event({**event, "version": 512, "score": score})
    log.close(None)
    line = (tmp_path / "log.txt").read_text()[20:]
    assert line == "confirmed at 1,024 env steps: version 512, score 498.2 [495.1, 500.0]\n"
