/** The bandit: three algorithms pull the arms of the same machine. */
import { useMemo } from "preact/hooks";
import { route } from "../../../app/router";
import { inkAt } from "../../../chart/colors";
import { LineChart } from "../../../chart/LineChart";
import { Button } from "../../../ui/Button";
import { RunBar } from "../RunBar";
import { NumberField, Slider } from "../Slider";
import { Suggestions } from "../Suggestions";
import { useAddress } from "../useAddress";
import { useLoop } from "../useLoop";
import { ArmsPanel } from "./ArmsPanel";
import { PolicyTable } from "./PolicyTable";
import { POLICIES, POLICY_NAMES, type BanditPolicy } from "./settings";
import { BanditStore } from "./store";
import { SUGGESTIONS } from "./suggestions";
import { EXPLANATIONS, REGRET_HELP } from "./texts";
import { banditPath, LIMITS, parseBandit } from "./view";

const SHARES: [number, number] = [0, 1];

export function BanditLab() {
  const store = useMemo(() => new BanditStore(parseBandit(route.peek().params)), []);
  useAddress(store.view, banditPath, parseBandit, (view) => store.open(view));
  useLoop(store.isRunning, (seconds) => store.frame(seconds));
  const { settings, speed } = store.view.value;
  return (
    <div class="playground-columns">
      <div class="playground-panel world">
        <ArmsPanel store={store} />
      </div>
      <div class="playground-stage">
        <RunBar
          isRunning={store.isRunning.value}
          isDone=""
          onStart={() => store.start()}
          onPause={() => store.pause()}
          onReset={() => store.reset()}
          speed={speed}
          unit="steps"
          onSpeed={(next) => store.setSpeed(next)}
        >
          <Button onClick={() => store.stepOnce()}>One step</Button>
        </RunBar>
        <div class="playground-row">
          <BanditProgress store={store} />
          <span class="playground-space" />
          <NumberField
            label="Show repetition"
            value={store.repetition.value + 1}
            range={[1, settings.repetitions]}
            onChange={(value) => (store.repetition.value = Math.round(value) - 1)}
          />
        </div>
        <div class="playground-policies">
          {POLICIES.map((policy) => (
            <PolicyTable key={policy} store={store} policy={policy} />
          ))}
        </div>
        <p class="muted small">Dot: mean of what an arm has paid. Bar: its interval. Line: true mean. Bold: the best arm.</p>
        <BanditCurves store={store} />
        <Suggestions
          suggestions={SUGGESTIONS}
          onTry={(view) => {
            store.open(view);
            store.start();
          }}
        />
      </div>
      <div class="playground-panel">
        <section class="playground-section" aria-label="Algorithms">
          <h2>Algorithms</h2>
          {POLICIES.map((policy) => (
            <PolicyChoice key={policy} store={store} policy={policy} />
          ))}
        </section>
      </div>
    </div>
  );
}

function BanditProgress({ store }: { store: BanditStore }) {
  store.drawn.value;
  const { steps, settings } = store.experiment;
  return (
    <span class="num" role="status">
      step {steps.toLocaleString("en-US")} of {settings.horizon.toLocaleString("en-US")}, {settings.repetitions.toLocaleString("en-US")} repetitions
    </span>
  );
}

function PolicyChoice({ store, policy }: { store: BanditStore; policy: BanditPolicy }) {
  const { settings } = store.view.value;
  const { text, formula } = EXPLANATIONS[policy];
  return (
    <div class="playground-choice">
      <h3>{POLICY_NAMES[policy]}</h3>
      <p class="small">{text}</p>
      <p class="playground-formula">{formula}</p>
      {policy === "epsilon_greedy" && (
        <Slider label="Exploration" symbol="ε" value={settings.epsilon} range={LIMITS.epsilon} step={0.01} onChange={(epsilon) => store.setSettings({ epsilon })} />
      )}
      {policy === "ucb" && (
        <Slider label="Bonus" symbol="c" value={settings.exploration} range={LIMITS.exploration} step={0.05} onChange={(exploration) => store.setSettings({ exploration })} />
      )}
    </div>
  );
}

function BanditCurves({ store }: { store: BanditStore }) {
  const drawn = store.charted.value;
  const { results, settings, steps } = store.experiment;
  const whole = useMemo((): [number, number] => [0, settings.horizon], [settings.horizon]);
  const regret = useMemo(
    () =>
      results.map(({ policy, regret: { x, mean, low, high } }, i) => ({
        key: policy,
        label: POLICY_NAMES[policy],
        ...inkAt(i),
        x: [...x],
        y: [...mean],
        low: [...low],
        high: [...high],
        exact: true,
      })),
    [drawn, results],
  );
  const share = useMemo(
    () => results.map(({ policy, bestShare }, i) => ({ key: policy, label: POLICY_NAMES[policy], ...inkAt(i), x: [...bestShare.x], y: [...bestShare.y] })),
    [drawn, results],
  );
  return (
    <>
      <LineChart title="Regret" note={REGRET_HELP} xLabel="steps" series={regret} height={220} xRange={steps ? whole : undefined} sync="bandit" />
      <LineChart title="Pulls of the best arm" note="percent" unit="share" xLabel="steps" series={share} smoothing={0.7} range={SHARES} height={150} xRange={steps ? whole : undefined} sync="bandit" />
    </>
  );
}
