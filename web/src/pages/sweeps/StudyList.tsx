/** All studies, newest first, and the form that starts one. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { SweepSummary } from "../../api/types";
import { Link, navigate } from "../../app/router";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { formatAge, formatCount, formatNumber, fullPrecision } from "../../ui/numbers";
import { sortedBy, type Sort } from "../../ui/sorting";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { Table, type Column } from "../../ui/Table";
import { mayChange, progressText, REFRESH, studyPath } from "./study";
import { StartDialog } from "./StartDialog";

export function StudyList() {
  const query = useQuery("sweep_list", () => read("sweep_list", {}));
  const sort = useSignal<Sort>({ key: "created", descending: true });
  const isStarting = useSignal(false);
  const studies = query.data.value;
  const isLive = studies?.some(mayChange) ?? false;
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(query.refresh, REFRESH);
    return () => clearInterval(timer);
  }, [isLive]);
  if (!studies) return query.error.value ? <ErrorState error={query.error.value} retry={query.refresh} /> : <Loading what="the studies" rows={12} />;
  const start = (
    <Button kind="primary" disabledReason={readOnlyReason.value} onClick={() => (isStarting.value = true)}>
      Start a study
    </Button>
  );
  const dialog = isStarting.value && (
    <StartDialog
      onClose={() => (isStarting.value = false)}
      onStarted={(name) => {
        isStarting.value = false;
        query.refresh();
        navigate(studyPath(name));
      }}
    />
  );
  if (studies.length === 0) {
    return (
      <>
        <h1 class="visually-hidden">Sweeps</h1>
        <Empty title="There is no study yet" command="gymnast sweep init CartPole-v1 > space.yaml && gymnast sweep start space.yaml">
          <p>A study searches for better hyperparameters of an environment: its trials are ordinary runs.</p>
          {start}
        </Empty>
        {dialog}
      </>
    );
  }
  const value = COLUMNS.find((column) => column.key === sort.value.key)?.sortValue;
  return (
    <div class="sweeps">
      <header class="sweeps-head">
        <h1>Sweeps</h1>
        <span class="toolbar-space" />
        {start}
      </header>
      <Table
        label="Studies"
        columns={COLUMNS}
        rows={value ? sortedBy(studies, value, sort.value.descending) : studies}
        rowKey={(study) => study.name}
        sort={sort.value}
        onSort={(next) => (sort.value = next)}
        onOpen={(study) => navigate(studyPath(study.name))}
        hasShortcuts
      />
      {dialog}
    </div>
  );
}

function number(value: number | null) {
  return value === null ? <span class="muted">-</span> : <span class="num" title={fullPrecision(value)}>{formatNumber(value)}</span>;
}

const COLUMNS: Column<SweepSummary>[] = [
  {
    key: "name",
    label: "study",
    sortValue: (study) => study.name,
    cell: (study) => <Link to={studyPath(study.name)}>{study.name}</Link>,
  },
  {
    key: "status",
    label: "status",
    width: "110px",
    sortValue: (study) => study.status,
    cell: (study) => (
      <span class={`status-cell ${study.status}`} title={study.reason}>
        <span class="status-dot" aria-hidden="true" />
        {study.status}
      </span>
    ),
  },
  { key: "target", label: "trains", sortValue: (study) => study.target, cell: (study) => study.target },
  { key: "sampler", label: "sampler", sortValue: (study) => study.sampler, cell: (study) => <span class="muted">{study.mode === "pbt" ? "pbt" : study.sampler}</span> },
  {
    key: "trials",
    label: "trials",
    align: "right",
    descendingFirst: true,
    sortValue: (study) => study.trials,
    cell: (study) => <span class="num">{progressText(study)}</span>,
  },
  {
    key: "env_steps",
    label: "env steps",
    align: "right",
    descendingFirst: true,
    sortValue: (study) => study.env_steps,
    cell: (study) => <span class="num">{formatCount(study.env_steps)}</span>,
  },
  {
    key: "best",
    label: "best",
    title: "Estimated objective of the best trial, over many seeds.",
    align: "right",
    descendingFirst: true,
    sortValue: (study) => study.best_value,
    cell: (study) => number(study.best_value),
  },
  {
    key: "baseline",
    label: "baseline",
    title: "The same of the target without changes.",
    align: "right",
    descendingFirst: true,
    sortValue: (study) => study.baseline_value,
    cell: (study) => number(study.baseline_value),
  },
  {
    key: "confirmed",
    label: "confirmed",
    title: "Whether the best trial was trained again on fresh seeds.",
    sortValue: (study) => Number(study.confirmed),
    cell: (study) => (study.confirmed ? "yes" : <span class="muted">no</span>),
  },
  {
    key: "created",
    label: "age",
    align: "right",
    descendingFirst: true,
    sortValue: (study) => study.created,
    cell: (study) => <span class="num muted">{formatAge(Date.now() / 1000 - study.created)}</span>,
  },
];
