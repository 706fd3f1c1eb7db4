/** The mark of a trial in a plot: its shape and color say what it is. */
import type { Group } from "./geometry";

interface Props {
  group: Group;
  x: number;
  y: number;
  isPointed?: boolean;
  onPoint?: (isOver: boolean) => void;
  onPick?: (() => void) | undefined;
}

export function TrialMark({ group, x, y, isPointed = false, onPoint, onPick }: Props) {
  const shape = {
    class: `trial-mark ${group}${isPointed ? " pointed" : ""}`,
    onPointerEnter: () => onPoint?.(true),
    onPointerLeave: () => onPoint?.(false),
    onClick: onPick,
  };
  const size = group === "best" || group === "baseline" ? 5 : 3.5;
  if (group === "baseline") return <rect {...shape} x={x - 4} y={y - 4} width={8} height={8} transform={`rotate(45 ${x} ${y})`} />;
  if (group === "failed") return <path {...shape} d={`M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`} />;
  return <circle {...shape} cx={x} cy={y} r={isPointed ? size + 2 : size} />;
}
