/** What the schema guard found: the error that stops the monitor, and the runs that were left out. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../../api/client";
import type { RunSummary, SkippedRun } from "../../api/types";
import { Link, runPath } from "../../app/router";
import { Button } from "../../ui/Button";

interface ErrorProps {
  error: ApiError;
  runs: readonly RunSummary[];
  /** Leaves broken runs out; missing if they are left out already. */
  onSkip: (() => void) | undefined;
  onRetry: () => void;
}

export function SchemaError({ error, runs, onSkip, onRetry }: ErrorProps) {
  const run = runs.find(({ id }) => error.at.startsWith(`${id}/`)); // the place is a file of the run
  return (
    <section class="monitor-problem" role="alert">
      <h2 class="error-text">The runs cannot be monitored</h2>
      <dl>
        {run && (
          <Fact name="run">
            <RunLink id={run.id} runs={runs} />
          </Fact>
        )}
        <Fact name="problem">{error.message}</Fact>
        {error.at && <Fact name="file">{error.at}</Fact>}
        {error.fix && <Fact name="remedy">{error.fix}</Fact>}
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
  return (
    <section class="monitor-problem skipped" role="status" aria-label="Runs that were left out">
      <h2 class="warning">
        {skipped.length === 1 ? "1 run is left out, because its data is broken" : `${skipped.length} runs are left out, because their data is broken`}
      </h2>
      <ul>
        {skipped.map(({ run, at, problem, fix }) => (
          <li key={`${run} ${at}`}>
            <dl>
              <Fact name="run">
                <RunLink id={run} runs={runs} />
              </Fact>
              <Fact name="problem">{problem}</Fact>
              {at && <Fact name="file">{at}</Fact>}
              {fix && <Fact name="remedy">{fix}</Fact>}
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

/** The name of a run as a link to its page; the reference itself if it is a file. */
function RunLink({ id, runs }: { id: string; runs: readonly RunSummary[] }) {
  const run = runs.find((one) => one.id === id);
  return run ? <Link to={runPath(id)}>{run.name || id}</Link> : <>{id}</>;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
