"""A window that shows frames at a fixed rate and tracks which keys are held."""

from __future__ import annotations

import os
import sys

import numpy as np
import pygame

from gymnast.errors import UsageError
from gymnast.film.drawing import to_surface

QUIT_KEYS = ("escape", "q")


class WindowClosed(Exception):
    """The user has closed the window or pressed a key that ends the game."""


def has_display() -> bool:
    """True if a window can probably be opened; a user who sets SDL_VIDEODRIVER is trusted."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"))


def no_display_error(*, is_human: bool, why: str = "") -> UsageError:
    fix = "record a film with --record out.mp4, or play step by step in the terminal with --step"
    return UsageError(
        "no display: a window cannot be opened" + (f" ({why})" if why else ""),
        fix="play in the terminal: --human --step" if is_human else fix,
    )


class Window:
    def __init__(self, title: str, fps: float) -> None:
        """Opens no window yet: `show` does, in the size of the first frame."""
        self.title, self.fps = title, fps
        self.held_keys: list[str] = []
        """Names of the keys that are held, the latest last."""
        self._tapped: list[str] = []
        """Keys pressed since the previous frame, also if they were released before it."""
        self._screen: pygame.Surface | None = None
        self._clock = pygame.time.Clock()

    def show(self, frame: np.ndarray) -> None:
        """Shows the next frame when it is due."""
        size = (frame.shape[1], frame.shape[0])
        if self._screen is None or self._screen.get_size() != size:
            try:
                pygame.display.init()
                self._screen = pygame.display.set_mode(size)
            except pygame.error as problem:  # DISPLAY may be set without a server behind it
                raise no_display_error(is_human=False, why=str(problem)) from None
            pygame.display.set_caption(self.title)
        self._screen.blit(to_surface(frame), (0, 0))
        pygame.display.flip()
        self.tick()

    def tick(self) -> None:
        """Waits until the next frame is due and processes the keys pressed meanwhile."""
        self._clock.tick(self.fps)
        # Polling also keeps the window responsive: without it the system calls it frozen.
        self._tapped = []
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                raise WindowClosed
            if event.type == pygame.KEYDOWN:
                self._down(pygame.key.name(event.key))
            elif event.type == pygame.KEYUP:
                name = pygame.key.name(event.key)
                self.held_keys = [key for key in self.held_keys if key != name]

    def pressed_keys(self) -> list[str]:
        """Returns the keys that were tapped since the previous frame and are released again, then the keys
        that are held, the latest last."""
        return [*(key for key in self._tapped if key not in self.held_keys), *self.held_keys]

    def wait_for_key(self) -> None:
        """Waits until a key is pressed; raises WindowClosed if it ends the game."""
        while not self._tapped:
            self.tick()

    def close(self) -> None:
        pygame.display.quit()

    def _down(self, name: str) -> None:
        if name in QUIT_KEYS:
            raise WindowClosed
        self._tapped.append(name)
        self.held_keys = [*(key for key in self.held_keys if key != name), name]
