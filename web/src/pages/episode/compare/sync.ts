/** Keeps two episodes at the same step. */
import { effect } from "@preact/signals";
import type { EpisodeStore } from "../store";

type Position = Pick<EpisodeStore, "step" | "length" | "playing" | "speed" | "seek">;

/** Moves each of two episodes with the other. The shorter one stays at its end. Returns a function that ends this. */
export function synchronize(first: Position, second: Position): () => void {
  const follow = (leader: Position, follower: Position) => {
    let before = leader.step.peek();
    return effect(() => {
      const step = leader.step.value;
      if (step === before) return;
      before = step;
      // At the end of the shorter one, the longer one goes on alone.
      if (step === leader.length.peek() && follower.step.peek() > step) return;
      follower.seek(step);
    });
  };
  second.seek(first.step.peek());
  const stops = [follow(first, second), follow(second, first)];
  return () => stops.forEach((stop) => stop());
}
