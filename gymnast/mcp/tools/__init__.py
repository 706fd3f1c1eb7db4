"""The tools, in the order in which a client lists them."""

from __future__ import annotations

from gymnast.mcp.tool import Tool
from gymnast.mcp.tools.chart import chart
from gymnast.mcp.tools.compare import compare
from gymnast.mcp.tools.config import config
from gymnast.mcp.tools.control import control
from gymnast.mcp.tools.diagnose import diagnose
from gymnast.mcp.tools.episodes import episodes
from gymnast.mcp.tools.find import find
from gymnast.mcp.tools.frame import frame
from gymnast.mcp.tools.league import league
from gymnast.mcp.tools.metrics import metrics
from gymnast.mcp.tools.runs import runs
from gymnast.mcp.tools.train import train
from gymnast.mcp.tools.wait import wait

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(find, "reads", {"total": "integer"}),
        Tool(config, "reads", {"valid": "boolean"}),
        Tool(train, "changes", {"started": "integer", "runs": "array"}),
        Tool(wait, "reads", {"ended": "integer", "training": "integer", "runs": "array"}),
        Tool(control, "destroys", {"done": "boolean"}),
        Tool(runs, "reads", {"total": "integer"}),
        Tool(metrics, "reads", {"total": "integer"}),
        Tool(compare, "reads", {"sides": "integer"}),
        Tool(diagnose, "reads", {"run": "string"}),
        Tool(episodes, "reads", {"run": "string"}),
        Tool(frame, "reads", None),
        Tool(chart, "reads", None),
        Tool(league, "reads", {"run": "string", "total": "integer"}),
    )
}
