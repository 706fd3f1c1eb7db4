/** Records of the inspector. Numbers that are not known are NaN here, null in the answers of the server. */
import type { EpisodeInfo, EpisodeInspection as StoredInspection, KeyMoment as FoundMoment } from "../../api/types";
export type { ActionLabel, ColumnInfo, ObsComponent, ReplayInfo } from "../../api/types";

/** A step to look at: found in the table, or a blunder. */
export type KeyMoment = Omit<FoundMoment, "kind"> & { kind: string };

/** A value of a step table. */
export type Cell = number | boolean | string | null;

/** Column name -> one value per step. */
export type StepTable = Record<string, readonly Cell[]>;

export type EpisodeKind = EpisodeInfo["kind"];

/** Names a stored episode, or an agent of a stored match. */
export interface EpisodeAddress {
  /** Id of the run. */
  run: string;
  kind: EpisodeKind;
  /** Env steps of the policy. */
  version: number;
  number: number;
  /** The role whose agent is inspected, in a match; the first that learned if missing. */
  role?: string | undefined;
  /** The seat of that role; 0 if missing. */
  seat?: number | undefined;
}

export type EpisodeInspection = Omit<StoredInspection, "table"> & { table: StepTable };

/** The line after another action at a step, continued with the policy. */
export interface Variation {
  step: number;
  /** Index of a Discrete action, else one number per element. */
  action: number | number[];
  label: string;
  /** Number of steps for which it is held. */
  hold: number;
  /** The columns of the episode, from `step` on. */
  table: StepTable;
  raw_return: number;
  played_return: number;
  ended: boolean;
  outcome: string;
}
