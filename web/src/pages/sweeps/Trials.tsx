/** All trials of a study with their values, settings and runs. */
import { useSignal, type Signal } from "@preact/signals";
import type { SweepStatus, TrialRecord } from "../../api/types";
import { Link, runPath } from "../../app/router";
import { formatCount, formatNumber, fullPrecision } from "../../ui/numbers";
import { sortedBy, type Sort } from "../../ui/sorting";
import { Table, type Column } from "../../ui/Table";
import { GROUP_NAMES } from "./geometry";
import { ranked, settingsText } from "./study";

interface Props {
  status: SweepStatus;
  pointed: Signal<number | null>;
  /** The trial that was clicked in a plot. */
  picked: number | null;
}

export function Trials({ status, pointed, picked }: Props) {
  const sort = useSignal<Sort>({ key: "rank", descending: false });
  const value = COLUMNS.find((column) => column.key === sort.value.key)?.sortValue;
  const rows = sort.value.key === "rank" && !sort.value.descending ? ranked(status.trials) : value ? sortedBy(status.trials, value, sort.value.descending) : status.trials;
  return (
    <section class="sweeps-trials" aria-label="Trials">
      <h2>Trials</h2>
      <Table
        label="Trials"
        columns={COLUMNS}
        rows={rows}
        rowKey={(trial) => String(trial.number)}
        sort={sort.value}
        onSort={(next) => (sort.value = next)}
        selected={new Set(picked === null ? [] : [String(picked)])}
        onFocusRow={(trial) => (pointed.value = trial.number)}
        rowClass={(trial) => (trial.number === pointed.value ? "pointed" : "")}
        empty="No trial has started yet."
      />
    </section>
  );
}

const COLUMNS: Column<TrialRecord>[] = [
  {
    key: "rank",
    label: "rank",
    align: "right",
    width: "52px",
    sortValue: (trial) => trial.rank,
    cell: (trial) => <span class="num">{trial.value === null || trial.state === "failed" ? "" : trial.rank}</span>,
  },
  {
    key: "number",
    label: "trial",
    align: "right",
    width: "64px",
    sortValue: (trial) => trial.number,
    cell: (trial) => <span class="num">{trial.number}</span>,
  },
  {
    key: "state",
    label: "state",
    width: "130px",
    sortValue: (trial) => trial.state,
    cell: (trial) => (
      <span class={`ellipsis trial-state ${trial.state}`} title={trial.problem}>
        {trial.is_baseline ? `baseline, ${trial.state}` : GROUP_NAMES[trial.state]}
      </span>
    ),
  },
  {
    key: "value",
    label: "value",
    title: "Estimated objective over many seeds, at the rung that the trial has reached.",
    align: "right",
    width: "90px",
    descendingFirst: true,
    sortValue: (trial) => trial.value,
    cell: (trial) =>
      trial.value === null || trial.state === "failed" ? (
        <span class="muted">-</span>
      ) : (
        <span class="num" title={fullPrecision(trial.value)}>
          {formatNumber(trial.value)}
        </span>
      ),
  },
  {
    key: "seeds",
    label: "seeds",
    align: "right",
    width: "56px",
    descendingFirst: true,
    sortValue: (trial) => trial.seeds.length,
    cell: (trial) => <span class="num">{trial.seeds.length}</span>,
  },
  {
    key: "env_steps",
    label: "env steps",
    align: "right",
    width: "88px",
    descendingFirst: true,
    sortValue: (trial) => trial.env_steps,
    cell: (trial) => <span class="num">{formatCount(trial.env_steps)}</span>,
  },
  {
    key: "settings",
    label: "settings",
    sortValue: (trial) => settingsText(trial),
    cell: (trial) => (
      <span class="ellipsis" title={settingsText(trial)}>
        {settingsText(trial)}
      </span>
    ),
  },
  {
    key: "runs",
    label: "runs",
    cell: (trial) => (
      <span class="sweeps-runs">
        {trial.seeds
          .filter((seed) => seed.run !== "")
          .map((seed) => (
            <Link key={seed.run} to={runPath(seed.run)} title={`${seed.name}, seed ${seed.seed}: ${seed.state}`}>
              {seed.run}
            </Link>
          ))}
      </span>
    ),
  },
];
