/** The buttons that start, pause and reset, and the speed. */
import type { ComponentChildren } from "preact";
import { useShortcut } from "../../app/shortcuts";
import { Button } from "../../ui/Button";
import { SPEEDS, speedText } from "./pace";

interface Props {
  isRunning: boolean;
  /** Why nothing can be started; empty if it can. */
  isDone: string;
  onStart: () => void;
  onPause: () => void;
  onReset: () => void;
  speed: number;
  /** What is counted by the speed. */
  unit: string;
  onSpeed: (speed: number) => void;
  /** Further buttons. */
  children?: ComponentChildren;
}

export function RunBar({ isRunning, isDone, onStart, onPause, onReset, speed, unit, onSpeed, children }: Props) {
  const toggle = () => (isRunning ? onPause() : isDone || onStart());
  useShortcut("k", "Learn or pause", toggle);
  return (
    <div class="playground-bar" role="group" aria-label="Learning">
      <Button kind="primary" class="playground-start" disabledReason={isRunning ? "" : isDone} onClick={toggle}>
        {isRunning ? "Pause" : "Learn"}
      </Button>
      {children}
      <Button onClick={onReset} title="Forget everything that was learned">
        Reset
      </Button>
      <label class="field playground-speed">
        <span>Speed</span>
        <input
          type="range"
          min={0}
          max={SPEEDS.length - 1}
          step={1}
          value={speed}
          aria-valuetext={speedText(speed, unit)}
          onInput={(event) => onSpeed(event.currentTarget.valueAsNumber)}
        />
        <output class="num">{speedText(speed, unit)}</output>
      </label>
    </div>
  );
}
