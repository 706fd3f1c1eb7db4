"""An environment for gymnast and any other tool that uses the Gymnasium API."""
