/** The agents of a match: each leads to its own steps, with what it saw and expected. */
import { Link, pathWith } from "../../app/router";
import { episodePath } from "./address";
import { cellText } from "./format";
import { useEpisode } from "./store";

export function Agents() {
  const store = useEpisode();
  const known = store.inspection.value;
  if (!known?.seats.length) return null;
  const { role: chosenRole, seat: chosenSeat } = known.address;
  const isAlone = (role: string) => known.seats.filter((other) => other.role === role).length === 1;
  return (
    <nav class="episode-agents" aria-label="Agents of the match">
      {known.seats.map(({ role, seat, player, raw_return: total, outcome, has_policy: hasPolicy }) => (
        <Link
          key={`${role} ${seat}`}
          class="episode-agent"
          to={pathWith(episodePath(store.address), { role, seat: seat || null, step: store.step.peek() || null })}
          aria-current={role === chosenRole && seat === chosenSeat ? "true" : undefined}
          title={hasPolicy ? `${outcome || "playing"}; its probabilities and values are known` : `${outcome || "playing"}; its policy is not stored`}
        >
          <strong>
            {role}
            {!isAlone(role) && ` ${seat}`}
          </strong>{" "}
          <span class="muted">{player}</span> <span class="num">{cellText(total)}</span>
        </Link>
      ))}
    </nav>
  );
}
