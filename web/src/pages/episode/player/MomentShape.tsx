import { momentStyle } from "./moments";

/** The shape of a kind of key moment. */
export function MomentShape({ kind }: { kind: string }) {
  const { shape, tone } = momentStyle(kind);
  return (
    <svg class={`episode-shape ${tone}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
      <path d={shape} fill="currentColor" />
    </svg>
  );
}
