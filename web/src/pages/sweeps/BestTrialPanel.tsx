/** The best trial so far: its settings, whether it is better than the baseline, and how to use it. */
import type { BestTrial } from "../../api/types";
import { CopyButton } from "../../ui/CopyButton";
import { formatNumber, fullPrecision } from "../../ui/numbers";

export function BestTrialPanel({ best }: { best: BestTrial | undefined }) {
  if (!best) return <p class="sweeps-best muted">No trial has a result yet.</p>;
  const { trial, confirmation } = best;
  return (
    <section class="sweeps-best" aria-label="Best trial">
      <h2>{trial.is_baseline ? "The baseline is the best" : `Trial ${trial.number} is the best`}</h2>
      {trial.value !== null && (
        <span class="num" title={`Estimated objective over many seeds: ${fullPrecision(trial.value)}`}>
          {formatNumber(trial.value)} <span class="muted">estimated</span>
        </span>
      )}
      <span class={confirmation?.exceeds_noise ? "sweeps-verdict good" : "sweeps-verdict muted"}>
        {confirmation ? `On fresh seeds: ${confirmation.verdict}.` : "Not confirmed on fresh seeds yet: the best of many noisy results is partly luck."}
      </span>
      <span class="toolbar-space" />
      <CopyButton text={best.command} label="Copy the command" />
      <CopyButton text={best.patch} label="Copy as a variant" />
      <dl class="sweeps-settings">
        {Object.entries(trial.overrides).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd class="num">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
