"""Hyperparameter search: studies of many trials, whose trials are ordinary runs.

space.yaml --> Space --propose--> trial --decide--> unit --Executor--> measurement --> journal
                         ^                                                               |
                         +------------------------- history -----------------------------+

A study is a directory below the data directory, `sweeps/NAME/`, and its whole state follows from the journal
in it. A trial is one assignment of values to the parameters of the space. A unit is the smallest piece of
work that is decided on: it trains one seed of one trial up to a number of env steps. Which results a decision
depends on follows from the units alone, whatever else has finished by then, so that a study that was killed
and resumed makes the same proposals as one that was not.
"""
