/** The episodes that a run has stored, and fresh ones on request. */
import { useSignal } from "@preact/signals";
import { read } from "../../../api/client";
import { commandText } from "../../../api/command";
import { useQuery } from "../../../api/queries";
import type { EpisodeInfo } from "../../../api/types";
import { Link, navigate, route, setParams } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Num } from "../../../ui/Num";
import type { Sort } from "../../../ui/sorting";
import { Empty, ErrorState, Loading } from "../../../ui/states";
import { Table, type Column } from "../../../ui/Table";
import { episodePath } from "../../episode/address";
import type { TabProps } from "../parts/lazyTab";
import { counted } from "../parts/text";
import { listed, orderOf, ORDERS } from "./episodeOrder";
import { RollOutDialog } from "./RollOutDialog";

const PAGE = 2000;
const KINDS: [kind: string, label: string][] = [
  ["", "all"],
  ["eval", "evaluations"],
  ["confirm", "final evaluation"],
  ["train", "training"],
  ["fresh", "fresh rollouts"],
  ["played", "played by hand"],
];

export default function EpisodesTab({ details }: TabProps) {
  const kind = route.value.params.get("kind") ?? "";
  const version = route.value.params.get("version") ?? "";
  const limit = useSignal(PAGE);
  const sort = useSignal<Sort | undefined>(undefined);
  const isRollingOut = useSignal(false);
  const order = orderOf(route.value.params.get("order"));
  const episodes = useQuery(`episodes:${details.id}:${kind}:${version}:${limit.value}:${details.latest_step}`, () =>
    read("episodes", { ref: details.id, kind, version: version ? Number(version) : null, limit: limit.value }),
  );
  const page = episodes.data.value;
  if (episodes.error.value && !page) return <ErrorState error={episodes.error.value} retry={episodes.refresh} />;
  if (!page) return <Loading what="the episodes" rows={12} />;
  const columns = columnsFor(page.episodes, details.id, details.best_step);
  const column = columns.find((found) => found.key === sort.value?.key);
  const rows = listed(page.episodes, order, sort.value, column?.sortValue);
  const versions = [...new Set([...page.episodes.map((episode) => episode.version), ...(version ? [Number(version)] : [])])];
  return (
    <div class="run-view">
      <div class="run-toolbar">
        <label>
          episodes of{" "}
          <select value={kind} onChange={(event) => setParams({ kind: event.currentTarget.value, version: null })}>
            {KINDS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          policy{" "}
          <select value={version} onChange={(event) => setParams({ version: event.currentTarget.value })}>
            <option value="">all</option>
            {versions.map((steps) => (
              <option key={steps} value={String(steps)}>
                {steps.toLocaleString("en-US")} env steps
              </option>
            ))}
          </select>
        </label>
        <label title={order.title}>
          order{" "}
          <select
            value={order.key}
            onChange={(event) => {
              sort.value = undefined;
              setParams({ order: event.currentTarget.value });
            }}
          >
            {ORDERS.map(({ key, label }) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <span class="muted">
          {counted(page.episodes.length, "episode")}
          {page.cursor !== null && " shown"}
        </span>
        {page.cursor !== null && (
          <button type="button" class="link-button" onClick={() => (limit.value += PAGE)}>
            Show more
          </button>
        )}
        <span class="spacer" />
        <Button onClick={() => (isRollingOut.value = true)} disabledReason={readOnlyReason.value} title="Play a fresh episode with a checkpoint">
          Roll out…
        </Button>
        <Link class="button" to={`/play/${encodeURIComponent(details.id)}`}>
          Play
        </Link>
      </div>
      {rows.length ? (
        <Table
          label="Stored episodes"
          columns={columns}
          rows={rows}
          rowKey={(row) => `${row.kind}-${row.version}-${row.number}`}
          sort={sort.value}
          onSort={(chosen) => (sort.value = chosen)}
          onOpen={(row) => navigate(episodePath({ run: details.id, ...row }))}
          hasShortcuts
        />
      ) : (
        <Empty title="No episodes are stored" height={240}>
          Episodes of evaluations are stored as long as traces.disk allows; the first evaluation is still to come, or there
          is none of this kind.
        </Empty>
      )}
      {isRollingOut.value && <RollOutDialog details={details} onClose={() => (isRollingOut.value = false)} />}
    </div>
  );
}

function columnsFor(episodes: readonly EpisodeInfo[], id: string, best: number | null): Column<EpisodeInfo>[] {
  const roles = [...new Set(episodes.flatMap((episode) => Object.keys(episode.returns)))];
  const numbers = [...new Set(episodes.flatMap((episode) => Object.keys(episode.numbers)))].slice(0, 6);
  const number = (key: string, label: string, value: (row: EpisodeInfo) => number | null | undefined): Column<EpisodeInfo> => ({
    key,
    label,
    align: "right",
    width: "96px",
    descendingFirst: true,
    sortValue: value,
    cell: (row) => <Num value={value(row)} />,
  });
  const count = (key: string, label: string, value: (row: EpisodeInfo) => number): Column<EpisodeInfo> => ({
    ...number(key, label, value),
    cell: (row) => <Num value={value(row)} metric={{ unit: "", digits: 0 }} />,
  });
  return [
    { key: "kind", label: "Kind", width: "72px", sortValue: (row) => row.kind, cell: (row) => row.kind },
    {
      ...count("version", "Checkpoint", (row) => row.version),
      width: "136px",
      title: "env steps of the policy that played it",
      cell: (row) => (
        <>
          {row.version === best && <span class="badge good">best</span>} <Num value={row.version} metric={{ unit: "", digits: 0 }} />
        </>
      ),
    },
    {
      ...count("number", "Episode", (row) => row.number),
      cell: (row) => (
        <Link to={episodePath({ run: id, ...row })} aria-label={`Open ${row.kind} episode ${row.number} of ${row.version}`}>
          {row.number}
        </Link>
      ),
    },
    ...(roles.length ? [] : [number("return", "Return", (row) => row.raw_return)]),
    ...roles.map((role) => number(`return ${role}`, `Return of ${role}`, (row) => row.returns[role])),
    count("length", "Length", (row) => row.length),
    {
      ...number("surprise", "Surprise", (row) => row.surprise),
      title: "How far the return was from what the critic expected at the start",
    },
    { key: "outcome", label: "Outcome", width: "112px", sortValue: (row) => row.outcome, cell: (row) => row.outcome },
    { ...count("seed", "Seed", (row) => row.seed), cell: (row) => <span class="num">{row.seed}</span> },
    ...numbers.map((name) => number(`number ${name}`, name, (row) => row.numbers[name])),
    {
      key: "copy",
      label: <span class="visually-hidden">Actions</span>,
      cell: (row) => (
        <CopyButton
          text={commandText({ command: "inspect", words: [`${id}:${row.version}`], options: { episode: row.number, kind: row.kind } })}
        />
      ),
    },
  ];
}
