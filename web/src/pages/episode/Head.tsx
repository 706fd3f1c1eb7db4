/** Which episode it is, how it went, and its neighbors. */
import { read } from "../../api/client";
import { commandText } from "../../api/command";
import { useQuery } from "../../api/queries";
import { Link, runPath } from "../../app/router";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Num } from "../../ui/Num";
import { formatCount } from "../../ui/numbers";
import { episodePath } from "./address";
import { settingsText } from "./format";
import { useEpisode } from "./store";

/** Neighbors are looked for among so many episodes of the checkpoint. */
const NEIGHBORS = 2000;

export function Head({ onCompare }: { onCompare: () => void }) {
  const { address, inspection } = useEpisode();
  const info = inspection.value?.info;
  const command = commandText({
    command: "inspect",
    words: [`${address.run}:${address.version}`],
    options: { kind: address.kind, episode: address.number, text: true },
  });
  return (
    <div class="episode-head">
      <Link to={runPath(address.run, "episodes")} class="episode-back">
        ‹ Episodes
      </Link>
      <h2>
        {address.kind} episode <span class="num">{address.number}</span>
      </h2>
      <span class="muted">
        checkpoint <span class="num">{formatCount(address.version)}</span>
      </span>
      {info && (
        <>
          <span class="muted">
            seed <span class="num">{info.seed}</span>
          </span>
          {info.raw_return !== null && (
            <span>
              <span class="muted">return</span> <Num value={info.raw_return} />
            </span>
          )}
          <span>
            <Num value={info.length} metric={{ unit: "", digits: 0 }} /> <span class="muted">steps</span>
          </span>
          <span class="badge">{info.outcome}</span>
          {info.settings && <span class="muted">{settingsText(info.settings)}</span>}
        </>
      )}
      <span class="episode-head-end">
        <Neighbors />
        <Button onClick={onCompare} title="Show it next to another episode, at the same step">
          Side by side…
        </Button>
        <CopyButton label="CLI" text={command} what="the command" />
      </span>
    </div>
  );
}

function Neighbors() {
  const { address, inspection } = useEpisode();
  const { run, kind, version, number } = address;
  const list = useQuery(inspection.value ? `episodes:${run}:${kind}:${version}:neighbors` : "", () =>
    read("episodes", { ref: run, kind, version, limit: NEIGHBORS }),
  );
  const numbers = (list.data.value?.episodes ?? []).map((episode) => episode.number).sort((a, b) => a - b);
  const at = numbers.indexOf(number);
  const neighbor = (label: string, symbol: string, to: number | undefined) =>
    to === undefined ? (
      <span class="icon-button episode-neighbor off" aria-hidden="true">
        {symbol}
      </span>
    ) : (
      <Link class="icon-button episode-neighbor" to={episodePath({ ...address, number: to })} aria-label={label} title={label}>
        {symbol}
      </Link>
    );
  return (
    <>
      {neighbor("Previous episode of the checkpoint", "‹", at < 0 ? undefined : numbers[at - 1])}
      {neighbor("Next episode of the checkpoint", "›", at < 0 ? undefined : numbers[at + 1])}
    </>
  );
}
