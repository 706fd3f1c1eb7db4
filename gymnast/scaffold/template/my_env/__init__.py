"""An environment of one's own, for gymnast and any other tool that speaks Gymnasium."""
