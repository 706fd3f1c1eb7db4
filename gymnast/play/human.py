"""A human player: keys held or tapped in the window, or key names typed in a terminal."""

from __future__ import annotations

from collections.abc import Callable

from gymnast.play.keys import KeyBindings
from gymnast.play.players import Decision
from gymnast.play.window import QUIT_KEYS, Window, WindowClosed


class WindowPlayer:
    """Plays by the keys held or tapped in a window; with `step_by_step`, each key press is one step."""

    def __init__(self, keys: KeyBindings, window: Window, *, step_by_step: bool = False) -> None:
        self.keys, self.window, self.step_by_step = keys, window, step_by_step

    def start_episode(self, seed: int) -> None:
        self.window.held_keys.clear()

    def decide(self, obs: object, mask: object = None) -> Decision:
        """Returns the action of the keys that are held or were tapped since the previous frame; waits for a
        key if there is no idle action, and always with `step_by_step`. `obs` and `mask` are not used."""
        while (action := self._pressed_action()) is None:
            self.window.tick()
        if self.step_by_step:  # a held key must not take several steps
            self.window.held_keys.clear()
        return Decision(action)

    def _pressed_action(self) -> object:
        pressed = self.window.pressed_keys()
        known = any(key in self.keys.key_actions for key in pressed)
        return self.keys.action(pressed) if known or not self.step_by_step else None


class TerminalPlayer:
    """Plays by key names typed in a terminal. `ask` shows a prompt and returns a line, or raises EOFError."""

    def __init__(self, keys: KeyBindings, ask: Callable[[str], str]) -> None:
        self.keys, self.ask = keys, ask

    def start_episode(self, seed: int) -> None: ...

    def decide(self, obs: object, mask: object = None) -> Decision:
        """Asks until the typed line names known keys, and returns their action; an empty line is
        the idle action, if there is one. Raises WindowClosed if the line contains a key that ends
        the game, or at the end of the input. `obs` and `mask` are not used."""
        while True:
            try:
                typed = self.ask(f"  key ({' '.join(self.keys.key_actions)}, q ends): ").split()
            except EOFError:
                raise WindowClosed from None
            if set(typed) & set(QUIT_KEYS):
                raise WindowClosed
            unknown = [key for key in typed if key not in self.keys.key_actions]
            # Several keys in one line are pressed together. After a typo, ask again.
            action = None if unknown else self.keys.action(typed)
            if action is not None:
                return Decision(action)
