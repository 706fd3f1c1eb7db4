"""The common part of the studio and the MCP server: who may ask, which operations with which arguments, and
where the server listens."""
