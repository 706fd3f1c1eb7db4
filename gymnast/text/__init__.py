"""How numbers, times and curves read as text."""
