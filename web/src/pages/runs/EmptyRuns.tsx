/** What the runs page shows without runs, and without runs that match. */

import { Link } from "../../app/router";
import { readOnlyReason, session } from "../../app/session";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/states";

export function NoRuns() {
  return (
    <Empty title="There are no runs yet" command="gymnast train CartPole-v1">
      <p>
        Train one in a terminal{!readOnlyReason.value && <>, or <Link to="/new">start one here</Link></>}. It appears as soon
        as it starts.
      </p>
      <p class="muted">
        This studio shows <code>{session.value?.runs_dir}</code>; for other runs: <code>gymnast studio --runs DIR</code>
      </p>
    </Empty>
  );
}

export function NoMatch({ filter, onClear }: { filter: string; onClear: () => void }) {
  return (
    <Empty title="No run matches">
      <p>
        No run matches all words of <code>{filter}</code>.
      </p>
      <p>
        <Button onClick={onClear}>Clear the filter</Button>
      </p>
    </Empty>
  );
}
