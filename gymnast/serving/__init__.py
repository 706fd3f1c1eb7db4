"""The common part of the servers of gymnast: who may ask, which operations with which arguments, and where they
listen. The studio and the MCP server are such servers."""
