/** The arms: how many, what they pay, and how long and how often they are pulled. */
import { Button } from "../../../ui/Button";
import { NumberField, Slider } from "../Slider";
import { bestArm, MAX_ARMS, meanRange, MIN_ARMS, withKind, type RewardKind } from "./settings";
import type { BanditStore } from "./store";
import { LIMITS } from "./view";

const KINDS: Record<RewardKind, { label: string; text: string }> = {
  bernoulli: { label: "Bernoulli", text: "An arm pays 1 with its probability, otherwise 0: clicks, cures, wins." },
  gaussian: { label: "Gaussian", text: "An arm pays its mean plus noise with standard deviation σ: times, amounts, scores." },
};

export function ArmsPanel({ store }: { store: BanditStore }) {
  const { settings } = store.view.value;
  const { kind, means } = settings;
  const best = bestArm(means);
  const [low, high] = meanRange(kind);
  const setMeans = (next: readonly number[]) => store.setSettings({ means: next });
  return (
    <section class="playground-section" aria-label="Arms">
      <h2>Arms</h2>
      <p class="small">
        A slot machine with several arms. Their true means are known here, but not to the algorithms, which see only what the arms pay.
      </p>
      <fieldset class="playground-segments">
        <legend class="visually-hidden">Rewards</legend>
        {(Object.keys(KINDS) as RewardKind[]).map((one) => (
          <label key={one} class="playground-segment">
            <input type="radio" name="kind" checked={kind === one} onChange={() => store.setSettings(withKind(store.view.peek().settings, one))} />
            <span>{KINDS[one].label}</span>
          </label>
        ))}
      </fieldset>
      <p class="muted small">{KINDS[kind].text}</p>
      {means.map((mean, arm) => (
        <Slider
          key={arm}
          label={`Arm ${arm + 1}${arm === best ? ", the best one" : ""}`}
          value={mean}
          text={mean.toFixed(2)}
          range={[low, high]}
          step={0.01}
          onChange={(value) => setMeans(means.map((other, i) => (i === arm ? value : other)))}
        />
      ))}
      <div class="playground-row">
        <Button disabledReason={means.length >= MAX_ARMS ? `There are at most ${MAX_ARMS} arms.` : ""} onClick={() => setMeans([...means, (low + high) / 2])}>
          Add an arm
        </Button>
        <Button disabledReason={means.length <= MIN_ARMS ? `There are at least ${MIN_ARMS} arms.` : ""} onClick={() => setMeans(means.slice(0, -1))}>
          Remove the last
        </Button>
      </div>
      {kind === "gaussian" && (
        <Slider
          label="Noise"
          symbol="σ"
          help="Standard deviation of the rewards of every arm."
          value={settings.sigma}
          text={settings.sigma.toFixed(2)}
          range={LIMITS.sigma}
          step={0.05}
          onChange={(sigma) => store.setSettings({ sigma })}
        />
      )}
      <div class="playground-fields">
        <NumberField label="Steps" value={settings.horizon} range={LIMITS.horizon} step={100} onChange={(value) => store.setSettings({ horizon: Math.round(value) })} />
        <NumberField label="Repetitions" value={settings.repetitions} range={LIMITS.repetitions} onChange={(value) => store.setSettings({ repetitions: Math.round(value) })} />
        <NumberField label="Seed" value={settings.seed} range={LIMITS.seed} onChange={(value) => store.setSettings({ seed: Math.round(value) })} />
      </div>
      <p class="muted small">
        In each step, one reward is drawn for every arm, and an algorithm gets that of the arm that it pulls: all have the same luck.
      </p>
    </section>
  );
}
