/** A tiny line of a few points, drawn as SVG. */
import { sparkPath } from "./spark";

interface Props {
  /** Positions and values; missing values are gaps. */
  points: readonly (readonly [number, number | null])[];
  width?: number;
  height?: number;
  color?: string;
  /** A horizontal line, such as the threshold. */
  line?: number | null;
  label: string;
}

export function Sparkline({ points, width = 96, height = 20, color = "var(--accent)", line, label }: Props) {
  const { path, lineY, last } = sparkPath(points, width, height, line ?? null);
  return (
    <svg class="sparkline" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {lineY !== null && <line x1="0" x2={width} y1={lineY} y2={lineY} class="spark-line" />}
      {path && <path d={path} fill="none" stroke={color} stroke-width="1.5" />}
      {last && <circle cx={last[0]} cy={last[1]} r="1.75" fill={color} />}
    </svg>
  );
}
