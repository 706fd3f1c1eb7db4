/** What a dry run found: the same text as `gymnast train --dry-run`. */

import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import type { Launch } from "./useLaunch";

interface Props {
  launch: Launch;
  /** Why the run cannot be started. */
  disabledReason: string;
}

export function PlanDialog({ launch, disabledReason }: Props) {
  const plan = launch.plan.value;
  if (!plan) return null;
  const start = () => {
    launch.closePlan();
    launch.start();
  };
  return (
    <Dialog
      title="Dry run: nothing has been written"
      onClose={launch.closePlan}
      className="plan-dialog"
      actions={
        <>
          <CopyButton text={plan.text} label="Copy" />
          <Button onClick={launch.closePlan}>Close</Button>
          <Button kind="primary" onClick={start} disabledReason={disabledReason} autofocus>
            Start
          </Button>
        </>
      }
    >
      <pre class="plan" tabIndex={0} aria-label="Plan">
        {plan.text}
      </pre>
    </Dialog>
  );
}
