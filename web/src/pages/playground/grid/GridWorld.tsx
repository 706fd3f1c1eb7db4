/** The grid world: edit it, choose an algorithm, and watch it learn. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useActions } from "../../../app/palette";
import { route } from "../../../app/router";
import { useShortcut } from "../../../app/shortcuts";
import { Button } from "../../../ui/Button";
import { RunBar } from "../RunBar";
import { Suggestions } from "../Suggestions";
import { useAddress } from "../useAddress";
import { useLoop } from "../useLoop";
import { AlgorithmPanel } from "./AlgorithmPanel";
import { Board } from "./Board";
import type { Brush } from "./brushes";
import { PRESETS } from "./presets";
import { GridFacts, LearningCurve } from "./Progress";
import { GridStore } from "./store";
import { SUGGESTIONS } from "./suggestions";
import { SHOWN_LABELS } from "./texts";
import { gridPath, parseGrid, shownOptions, withPreset, type GridView } from "./view";
import { ClearButton, WorldPanel } from "./WorldPanel";

const CONVERGED = "The values have converged. Change the world or the discount, or press Reset.";

export function GridWorld() {
  const store = useMemo(() => new GridStore(parseGrid(route.peek().params)), []);
  const brush = useSignal<Brush>({ kind: "wall", goal: 1, pit: -1 });
  const hasWind = useSignal(false);
  useAddress(store.view, gridPath, parseGrid, (view) => store.open(view));
  useLoop(store.isRunning, (seconds) => store.frame(seconds));
  const { speed, shown, settings } = store.view.value;
  const isPlanning = settings.algorithm === "value_iteration";
  const tryOut = (view: GridView) => {
    store.open({ ...view, shown });
    store.start();
  };
  useShortcut(".", isPlanning ? "One sweep" : "One step", () => store.stepOnce());
  useActions(() =>
    PRESETS.map((preset) => ({
      id: `world ${preset.key}`,
      label: preset.name,
      kind: "world",
      keywords: "playground preset grid",
      run: () => store.open(withPreset(store.view.peek(), preset)),
    })),
  );
  return (
    <div class="playground-columns">
      <div class="playground-panel world">
        <WorldPanel store={store} brush={brush} hasWind={hasWind} />
        <ClearButton store={store} />
      </div>
      <div class="playground-stage">
        <RunBar
          isRunning={store.isRunning.value}
          isDone={store.facts.value.isDone ? CONVERGED : ""}
          onStart={() => store.start()}
          onPause={() => store.pause()}
          onReset={() => store.reset()}
          speed={speed}
          unit={isPlanning ? "sweeps" : "steps"}
          onSpeed={(next) => store.setShown({ speed: next })}
        >
          <Button onClick={() => store.stepOnce()}>{isPlanning ? "One sweep" : "One step"}</Button>
          {!isPlanning && <Button onClick={() => store.episodeOnce()}>One episode</Button>}
        </RunBar>
        <div class="playground-row playground-show" role="group" aria-label="Show">
          <fieldset class="playground-segments">
            <legend class="visually-hidden">Show on the board</legend>
            {shownOptions(settings.algorithm).map((one) => (
              <label key={one} class="playground-segment">
                <input type="radio" name="shown" checked={store.shown === one} onChange={() => store.setShown({ shown: one })} />
                <span>{SHOWN_LABELS[one]}</span>
              </label>
            ))}
          </fieldset>
        </div>
        <Board store={store} brush={brush.value} hasWind={hasWind.value} />
        <GridFacts store={store} />
        <LearningCurve store={store} />
        <Suggestions suggestions={SUGGESTIONS} onTry={tryOut} />
      </div>
      <div class="playground-panel">
        <AlgorithmPanel store={store} />
      </div>
    </div>
  );
}
