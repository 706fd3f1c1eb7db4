"""The MCP server: runs and trainings for assistants (`gymnast mcp`).

A tool (`tools/`) takes arguments, asks `gymnast.api`, and returns an `Answer`: a summary and records without
what is empty. `answer.py` fits it into a number of tokens, and `server.py` speaks the protocol.
"""
