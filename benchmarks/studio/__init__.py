"""Speed of the studio in a browser, beside TensorBoard and trackio on the same data."""
