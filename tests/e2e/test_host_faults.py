"""Two machines and the network between them fail while a run collects on both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.host_faults import outcomes
from tests.e2e.namespaces import why_not


@pytest.mark.slow
def test_faults_of_a_cluster_do_not_change_a_run(tmp_path: Path):
    if reason := why_not():
        pytest.skip(reason)
    (cut,) = outcomes(tmp_path, ["cable cut"])
    assert cut.status == "finished"
    assert {"host lost", "host replaced"} <= {*cut.events}
    assert cut.differs == []
