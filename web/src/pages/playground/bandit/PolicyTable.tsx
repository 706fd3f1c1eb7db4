/** What one algorithm believes about each arm, and how often it has pulled it. */
import { inkAt } from "../../../chart/colors";
import { rounded } from "../../../ui/numbers";
import type { Player } from "./players";
import { bestArm, meanRange, POLICIES, POLICY_NAMES, type BanditPolicy, type BanditSettings } from "./settings";
import type { BanditStore } from "./store";
import { INTERVALS } from "./texts";

/** Room on both sides of the true means for estimates that are off. */
const ROOM = 0.1;

export function PolicyTable({ store, policy }: { store: BanditStore; policy: BanditPolicy }) {
  store.drawn.value; // follows every drawing
  const { settings } = store.experiment;
  const player = store.experiment.player(policy, store.repetition.value);
  const best = bestArm(settings.means);
  const share = player.pulls ? (player.counts[best] ?? 0) / player.pulls : 0;
  const name = POLICY_NAMES[policy];
  return (
    <section class="playground-policy" aria-label={name} style={{ "--ink": inkAt(POLICIES.indexOf(policy)).color }}>
      <h3>
        <span class="playground-swatch" aria-hidden="true" /> {name}
      </h3>
      <table>
        <caption class="visually-hidden">{`Estimates of ${name}, with ${INTERVALS[policy]}`}</caption>
        <thead>
          <tr>
            <th scope="col">arm</th>
            <th scope="col">estimate, {INTERVALS[policy]}</th>
            <th scope="col" class="num">
              pulls
            </th>
          </tr>
        </thead>
        <tbody>
          {settings.means.map((mean, arm) => (
            <tr key={arm} data-best={arm === best ? "" : undefined}>
              <th scope="row">{arm + 1}</th>
              <td>
                <Estimate player={player} arm={arm} mean={mean} settings={settings} />
              </td>
              <td class="num">{(player.counts[arm] ?? 0).toLocaleString("en-US")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="small num">
        {player.pulls ? `best arm in ${rounded(share * 100, 0)} % of ${player.pulls.toLocaleString("en-US")} pulls` : "no pulls yet"}
      </p>
    </section>
  );
}

interface EstimateProps {
  player: Player;
  arm: number;
  mean: number;
  settings: BanditSettings;
}

function Estimate({ player, arm, mean, settings }: EstimateProps) {
  const [low, high] = meanRange(settings.kind);
  const room = (high - low) * ROOM;
  const at = (value: number) => Math.min(100, Math.max(0, ((value - low + room) / (high - low + 2 * room)) * 100));
  const interval = player.interval(arm);
  const estimate = player.mean(arm);
  const text = interval
    ? `estimate ${rounded(estimate, 2)}, from ${rounded(interval.low, 2)} to ${rounded(interval.high, 2)}, true mean ${mean}`
    : `not pulled yet, true mean ${mean}`;
  return (
    <div class="playground-estimate" role="img" aria-label={text} title={text}>
      {interval && <div class="interval" style={{ left: `${at(interval.low)}%`, right: `${100 - at(interval.high)}%` }} />}
      <div class="truth" style={{ left: `${at(mean)}%` }} />
      {interval && <div class="point" style={{ left: `${at(estimate)}%` }} />}
    </div>
  );
}
