"""What the servers of gymnast share: who may ask, which operations with which arguments, and where they
listen. The studio and the MCP server are such servers."""
