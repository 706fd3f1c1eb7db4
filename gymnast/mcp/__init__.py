"""The MCP server: runs and trainings for assistants (`gymnast mcp`)."""
