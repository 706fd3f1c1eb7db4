/** Sentences on whether each side is better than the baseline. */
import type { SideResult } from "./results";
import { verdict } from "./verdict";

const SIGNS = { better: "▲", worse: "▼", noise: "≈", unknown: "?" };
const SHOWN = 6;

interface Props {
  rows: readonly SideResult[];
  baseline: SideResult;
  format: (value: number) => string;
}

export function Verdicts({ rows, baseline, format }: Props) {
  const judged = rows.filter((row) => row !== baseline);
  const named = (row: SideResult) => ({ ref: row.side.ref, name: row.side.label, seeds: row.cells.n.value ?? 0 });
  const verdicts = judged.map((row) => ({ ref: row.side.ref, ...verdict(row.improvement, named(row), named(baseline), format) }));
  // Single runs have no test over seeds; one sentence says so for all of them.
  const unknown = verdicts.filter((one) => one.outcome === "unknown");
  const collapse = unknown.length > 2;
  const shown = verdicts.filter((one) => !collapse || one.outcome !== "unknown");
  return (
    <ul class="compare-verdicts" aria-label="Differences from the baseline">
      {shown.slice(0, SHOWN).map((one) => (
        <Sentence key={one.ref} outcome={one.outcome} text={one.sentence} />
      ))}
      {shown.length > SHOWN && (
        <li>
          <details>
            <summary>{shown.length - SHOWN} more</summary>
            <ul class="compare-verdicts">
              {shown.slice(SHOWN).map((one) => (
                <Sentence key={one.ref} outcome={one.outcome} text={one.sentence} />
              ))}
            </ul>
          </details>
        </li>
      )}
      {collapse && (
        <Sentence
          outcome="unknown"
          text={`Whether ${unknown.length} of the sides differ from ${baseline.side.label} by more than noise cannot be told: this needs at least 2 seeds per side.`}
        />
      )}
    </ul>
  );
}

function Sentence({ outcome, text }: { outcome: keyof typeof SIGNS; text: string }) {
  return (
    <li class={`compare-verdict ${outcome}`}>
      <span class="compare-sign" aria-hidden="true">
        {SIGNS[outcome]}
      </span>
      <span>{text}</span>
    </li>
  );
}
