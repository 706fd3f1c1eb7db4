/** The step table: filter, columns, CSV, and the rows. */
import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { Button } from "../../../ui/Button";
import type { Sort } from "../../../ui/sorting";
import { Loading } from "../../../ui/states";
import { toastError } from "../../../ui/toast";
import { Explained } from "../Explained";
import { downloadCsv } from "../csv";
import { useEpisode } from "../store";
import { ColumnsDialog } from "./ColumnsDialog";
import { FilterError, parseFilter, type RowTest } from "./filter";
import { FilterField } from "./FilterField";
import { Grid } from "./Grid";
import { chosenColumns } from "./storedColumns";
import { readingOrder, shownSteps } from "./view";

export function StepTable() {
  const store = useEpisode();
  const inspection = store.inspection.value;
  const filter = useSignal("");
  const sort = useSignal<Sort | undefined>(undefined);
  const isChoosing = useSignal(false);
  const length = store.length.value;
  const variation = store.variation.value;
  const all = useMemo(
    () => readingOrder(inspection?.columns.filter(({ name }) => inspection.table[name] !== undefined) ?? []),
    [inspection],
  );
  const known = useMemo(
    () => all.map(({ name, doc }) => ({ name, detail: doc.replaceAll("`", ""), values: store.column(name) ?? [] })),
    [all, variation],
  );
  const { test, error } = useFilter(filter.value, all.map(({ name }) => name), [all, variation]);
  const steps = useMemo(() => shownSteps(length, test, sort.value, (name) => store.column(name)), [length, test, sort.value, variation]);
  const names = inspection ? chosenColumns(inspection.env, all) : [];
  const columns = useMemo(() => all.filter(({ name }) => names.includes(name)), [all, names.join("\n")]);
  if (!inspection) {
    return (
      <section class="episode-table">
        <Loading what="the steps" height={300} />
      </section>
    );
  }
  return (
    <section class="episode-table" aria-label="Step table">
      <div class="episode-table-bar">
        <FilterField filter={filter.value} onFilter={(next) => (filter.value = next)} error={error} columns={known} />
        <span class="muted num episode-count" role="status">
          {steps.length === length ? `${length} steps` : `${steps.length} of ${length} steps`}
        </span>
        {sort.value && (
          <button type="button" class="link-button" onClick={() => (sort.value = undefined)}>
            order of time
          </button>
        )}
        <Button onClick={() => (isChoosing.value = true)} title={`${columns.length} of ${all.length} columns are shown`}>
          Columns
        </Button>
        <Button title="All columns of the episode, as stored with checkpoints" onClick={() => void downloadCsv(store.address).catch(toastError)}>
          CSV
        </Button>
      </div>
      <Explained class="episode-grid-wrap">
        <Grid columns={columns} steps={steps} sort={sort.value} onSort={(next) => (sort.value = next)} />
      </Explained>
      {isChoosing.value && (
        <ColumnsDialog env={inspection.env} columns={all} chosen={names} onClose={() => (isChoosing.value = false)} />
      )}
    </section>
  );
}

/** Returns the test of a filter; that of the last valid one while the user writes. */
function useFilter(filter: string, columns: readonly string[], inputs: unknown[]): { test: RowTest | null; error: FilterError | undefined } {
  const store = useEpisode();
  const last = useRef<RowTest | null>(null);
  return useMemo(() => {
    try {
      last.current = parseFilter(filter, columns, (name) => store.column(name));
      return { test: last.current, error: undefined };
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      return { test: last.current, error };
    }
  }, [filter, ...inputs]);
}
