"""Speed of the studio in a browser, and of TensorBoard and trackio on the same data."""
