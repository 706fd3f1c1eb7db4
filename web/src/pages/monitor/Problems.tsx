/** What the schema guard found: the error that stops the monitor, and the runs that were left out. */
import type { ApiError } from "../../api/client";
import type { RunSummary, SkippedRun } from "../../api/types";
import { Link, runPath } from "../../app/router";
import { Button } from "../../ui/Button";

interface ErrorProps {
  error: ApiError;
  /** Leaves broken runs out; missing if they are left out already. */
  onSkip: (() => void) | undefined;
  onRetry: () => void;
}

export function SchemaError({ error, onSkip, onRetry }: ErrorProps) {
  return (
    <section class="monitor-problem" role="alert">
      <h2 class="error-text">The runs cannot be monitored</h2>
      <dl>
        <Fact name="problem" text={error.message} />
        {error.at && <Fact name="file" text={error.at} />}
        {error.fix && <Fact name="remedy" text={error.fix} />}
      </dl>
      <p class="monitor-buttons">
        {onSkip && <Button onClick={onSkip}>Leave broken runs out</Button>}
        <Button onClick={onRetry}>Try again</Button>
      </p>
    </section>
  );
}

interface SkippedProps {
  skipped: readonly SkippedRun[];
  runs: readonly RunSummary[];
  /** Treats broken runs as errors again. */
  onStrict: () => void;
}

export function SkippedRuns({ skipped, runs, onStrict }: SkippedProps) {
  if (skipped.length === 0) return null;
  const names = new Map(runs.map((run) => [run.id, run.name || run.id]));
  return (
    <section class="monitor-problem skipped" role="status" aria-label="Runs that were left out">
      <h2 class="warning">
        {skipped.length === 1 ? "1 run is left out, because its data is broken" : `${skipped.length} runs are left out, because their data is broken`}
      </h2>
      <ul>
        {skipped.map(({ run, at, problem, fix }) => (
          <li key={`${run} ${at}`}>
            <strong>{names.has(run) ? <Link to={runPath(run)}>{names.get(run)}</Link> : run}</strong>
            <dl>
              <Fact name="problem" text={problem} />
              {at && <Fact name="file" text={at} />}
              {fix && <Fact name="remedy" text={fix} />}
            </dl>
          </li>
        ))}
      </ul>
      <p class="monitor-buttons">
        <Button onClick={onStrict}>Stop at broken runs</Button>
      </p>
    </section>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}
