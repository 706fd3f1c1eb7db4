// Written by web/make_types.py from the records of gymnast.api; do not edit.

/** An action of a Discrete action space, or an element of any other. */
export interface ActionLabel {
  /** Index of the action or of the element, from 0. */
  index: number;
  /** Its label from the facts of the preset; without one, its number or its place in the action. */
  name: string;
  /** Labels of the options of a discrete element, from the facts of the preset; empty without them. */
  options: string[];
}

export interface Alert {
  /** The key of a row and what is wrong with it: `policy/kl:high`. */
  id: string;
  level: "error" | "warning";
  message: string;
  /** The likely cause, and which settings to change in which direction. Values are proposed by the doctor alone, which also knows the rest of the run and its preset. */
  advice: string;
  /** Env steps at which it was first raised. */
  first: number;
  /** Env steps of the latest row for which it was active. */
  last: number;
  /** Number of rows for which it was active. */
  count: number;
  active: boolean;
}

/** The contributions of the parts of an observation to a decision. */
export interface Attribution {
  /** Column of the observation -> its contribution. All contributions sum to `output` minus `baseline`. None if the observation has no component that is a number. */
  components: Record<string, number> | null;
  /** The importance of the parts of an image; None if the observation has none. */
  image: SaliencyMap | null;
  /** The explained number for this observation. */
  output: number;
  /** The explained number for the baseline. */
  baseline: number;
  /** A sentence that says which number is explained. */
  target: string;
  /** A sentence that says how. */
  method: string;
  /** Earlier step -> its contribution through the memory of the policy: how much smaller the explained number would be if the observation of that step had been the baseline. Each step is explained alone, so that these do not add up. None if the policy has no memory. */
  past: Record<string, number> | null;
}

/** The reward audit of a run. */
export interface AuditReport {
  /** Id of the run. */
  run: string;
  /** Id of the environment. */
  env: string;
  /** Env steps of the checkpoint that played the matches; None if there is only one agent. */
  checkpoint: number | null;
  /** The roles that the checkpoint has a policy for; empty if there is only one agent. */
  learned: string[];
  /** True if the policies played their most likely actions; None if there is only one agent. */
  deterministic: boolean | null;
  /** Totals of the reward terms for each cast; empty if there is only one agent. */
  casts: CastTotals[];
  /** The test for farming; None if the environment has no players for it. */
  farming: FarmingTest | null;
  /** Totals of the shaping terms. */
  shaping: ShapingTotal[];
  /** Terms that can be farmed or outweigh the raw return. */
  flagged: TermFlag[];
  /** Terms that could not be judged. */
  unknown: TermFlag[];
}

/** The best trial of a study, and how to use it. */
export interface BestTrial {
  study: string;
  trial: TrialRecord;
  /** The command that trains with its settings. */
  command: string;
  /** Its settings as a variant of a preset, in YAML. */
  patch: string;
  /** None if it was not confirmed on fresh seeds. */
  confirmation: Confirmation | null;
  /** The reason why it was not; empty if it was. */
  unconfirmed: string;
  /** Env steps of the search, without the confirmation. */
  env_steps: number;
  seconds: number;
}

/** A step at which another action would have led to a higher return, if the policy had continued. */
export interface Blunder {
  /** The step. */
  step: number;
  /** The action of the episode. */
  played: number | number[];
  /** Its name. */
  played_label: string;
  /** The best action that was tried. */
  better: number | number[];
  /** Its name. */
  better_label: string;
  /** Return that the played action lost against the better one, as a share of the outcome scale. */
  lost: number;
  /** The same in raw reward: the difference of the mean returns of both actions. */
  lost_raw: number;
  /** Standard error of `lost_raw`; 0 if nothing is random. */
  error_raw: number;
  /** Number of lines that were played after each of both actions. */
  continuations: number;
  /** The level of `lost`. */
  level: "inaccuracy" | "mistake" | "blunder";
}

/** The blunders of an episode. */
export interface BlunderReport {
  /** Length of the episode. */
  steps: number;
  /** Number of steps at which other actions were tried. */
  steps_tested: number;
  /** Raw reward of the whole outcome scale. */
  scale: number;
  /** A sentence that says how the scale was found. */
  scale_doc: string;
  /** Whether the same actions lead to different episodes with other random numbers. */
  random: boolean;
  /** Number of lines that were played. */
  lines: number;
  /** Number of env steps of all lines. */
  env_steps: number;
  /** Time that the search took. */
  seconds: number;
  /** Lowest share of the outcome scale that each level has. */
  thresholds: Record<string, number>;
  /** The steps with a level, worst first. */
  marks: Blunder[];
}

/** The contents of a bundle. */
export interface BundleContents {
  /** Id of the run. */
  run: string;
  /** Status of the run now. */
  status: string;
  /** Env steps of the checkpoint; None without one. */
  checkpoint: number | null;
  /** All files except the manifest, the most important first. */
  files: BundleFile[];
  /** Everything that the run has and the bundle does not. */
  left_out: LeftOut[];
  /** Size of the archive in bytes. */
  size: number;
  /** Maximum size of the archive in bytes. */
  max_size: number;
}

/** A file of a bundle. */
export interface BundleFile {
  /** Its path in the run directory. */
  name: string;
  /** The part of the bundle that it belongs to: run, log, events, metrics, policy, ... */
  part: string;
  /** Number of bytes, not compressed. */
  size: number;
  sha256: string;
  /** Says what is missing, if it was shortened. */
  note: string;
}

/** The machine on which a bundle was made; run.json has the one on which the run was trained. */
export interface BundleMachine {
  /** Operating system and processor architecture. */
  system: string;
  /** Version of Python. */
  python: string;
  /** CPU model. */
  cpu: string;
  cores: number;
  /** Main memory in bytes. */
  memory: number;
  /** Installed package -> version. */
  packages: Record<string, string>;
}

/** The content of manifest.json in a bundle. */
export interface BundleManifest {
  /** Format version of the bundle. */
  version: number;
  /** Version of gymnast that made it. */
  gymnast: string;
  /** Id of the run. */
  run: string;
  /** Status of the run when the bundle was made. */
  status: string;
  /** Env steps of the checkpoint that it has; None without one. */
  checkpoint: number | null;
  machine: BundleMachine;
  /** All its files except the manifest. */
  files: BundleFile[];
  left_out: LeftOut[];
}

/** A part of a bundle. */
export interface BundlePart {
  /** Its subject: about, run, diagnosis, alerts, episode, moments, steps, settings, charts, ... */
  name: string;
  /** Its size in characters. */
  chars: number;
  /** A sentence about what was cut to fit the size budget; empty if the part is complete. */
  cut: string;
}

/** The matches of one cast, and the totals of the reward terms in them. */
export interface CastTotals {
  /** Role -> player. */
  cast: Record<string, string>;
  /** Number of matches. */
  matches: number;
  /** Role -> number of matches that it won. */
  won: Record<string, number>;
  /** Totals of each term, by role, for the roles that the run's own policy played. */
  roles: Record<string, TermTotal[]>;
}

export interface ChartAlert {
  id: string;
  level: "error" | "warning";
  message: string;
  /** Number of rows for which it was active. */
  count: number;
  /** Position at which it was raised. */
  x: number;
  until: number;
}

/** One curve of a chart. */
export interface ChartCurve {
  /** Title of the panel that it is drawn in. */
  panel: string;
  /** Its name in the legend. */
  label: string;
  /** Number of points. */
  points: number;
  /** The first value; None if it is not finite. */
  first: number | null;
  /** The last value. */
  last: number | null;
}

export interface ChartData {
  name: string;
  family: string;
  title: string;
  /** Section of the docs that explains it. */
  about: string;
  /** The clock on the x axis. */
  x: string;
  series: ChartSeries[];
  /** Stacked series are shares of their sum; many of them are a heat map. */
  kind: "line" | "stacked" | "heat";
  unit: string;
  /** Whether the y axis is logarithmic. */
  log: boolean;
  /** Whether each series is drawn relative to its largest absolute value. */
  scale_each: boolean;
  /** Number of series that are omitted because there are too many. */
  left_out: number;
  /** The healthy range of the first metric. */
  healthy: [number | null, number | null] | null;
  /** The range that the y axis covers at least. */
  range: [number | null, number | null] | null;
  lines: ChartLine[];
  ticks: ChartTicks | null;
  alerts: ChartAlert[];
  events: ChartEvent[];
}

/** An event that changed how the run trains; drawn as a vertical line. */
export interface ChartEvent {
  kind: string;
  text: string;
  x: number;
}

/** A horizontal line. */
export interface ChartLine {
  y: number;
  label: string;
}

/** A chart, drawn. */
export interface ChartPicture {
  format: "png" | "text";
  /** The clock on the x axis. */
  x: string;
  /** Ids of the runs. */
  runs: string[];
  /** The curves that are drawn. */
  curves: ChartCurve[];
  /** Number of metrics that were not drawn, as there would be too many panels. */
  left_out: number;
  /** The chart as text; empty for a picture. */
  text: string;
  /** The picture as a PNG file in base64; empty for text. */
  png: string;
}

export interface ChartSeries {
  /** Key of the metric in the rows. */
  key: string;
  label: string;
  x: number[];
  /** None where the value is not finite. */
  y: (number | null)[];
  /** Lower edge of the band around the series: minimum of the averaged rows, or confidence bound. */
  low: (number | null)[] | null;
  high: (number | null)[] | null;
}

/** Rows that are marked with a tick at the bottom. */
export interface ChartTicks {
  label: string;
  x: number[];
}

/** The findings about one environment. */
export interface CheckReport {
  /** The environment, as `ENV[:VARIANT]`. */
  target: string;
  /** Number of random steps. */
  steps: number;
  /** Number of episodes that were started. */
  episodes: number;
  /** Number of findings that are wrong. */
  wrong: number;
  /** Number of warnings. */
  warnings: number;
  /** All findings, in the order of CHECKS. */
  findings: Finding[];
}

/** A checkpoint, from its manifest. */
export interface CheckpointInfo {
  /** Number of env steps when it was written. */
  step: number;
  path: string;
  /** The reason why it was written: start, cadence, evaluation, ... */
  reason: string;
  /** Seconds since the epoch. */
  time: number;
  /** Hash that is equal for checkpoints with the same policies; None without a policy. */
  sha256: string | null;
}

/** The checkpoints of a run that are on disk. */
export interface Checkpoints {
  best: CheckpointInfo | null;
  /** The newest that is not damaged. */
  latest: CheckpointInfo | null;
  /** Env steps of all of them, damaged ones included. */
  steps: number[];
  /** Messages about damaged ones. Changed files are only noticed if asked for (`verify`). */
  damaged: string[];
}

/** A setting that differs from its default. */
export interface ChosenSetting {
  key: string;
  value: string;
  /** The origin of its value: a preset, a variant, the spaces, --set. */
  origin: string;
}

/** A column of a step table. */
export interface ColumnInfo {
  /** Name of the column. */
  name: string;
  /** Short name for people, without the prefix of its group. */
  label: string;
  /** Unit; empty for a number without one, for names and for yes or no. */
  unit: string;
  /** Meaning, in a sentence. */
  doc: string;
  /** Subject of the column. */
  group: "observation" | "input" | "action" | "policy" | "reward" | "value" | "end";
}

/** The answer of a run to a command. */
export interface CommandAnswer {
  /** Id of the run. */
  id: string;
  command: "set" | "pause" | "unpause" | "checkpoint" | "evaluate" | "stop";
  /** Status of the run after the command. */
  status: string;
  /** False if the run has not answered in time: the command takes effect at its next rollout boundary. */
  answered: boolean;
  /** Env steps of the run when it applied the command. */
  env_steps: number | null;
  /** The settings that `set` has changed. */
  changes: SettingChange[];
  /** The score of the current policy, for `evaluate`. */
  score: RunScore | null;
  /** True if `stop` removed a job from the queue before it started. */
  dequeued: boolean;
}

/** The statistics over the seeds of one side of a comparison. Returns of several environments are on different scales: then score, IQM, best and area are None and the curve is empty. */
export interface ComparedGroup {
  /** The name of the group as the user gave it, or the id of the run. */
  name: string;
  preset: string;
  /** Environments of the runs. */
  envs: string[];
  /** Ids of the runs. */
  members: string[];
  /** Number of seeds. */
  runs: number;
  /** Number of seeds whose `final` is in score and IQM: the finished ones or, if `provisional`, every one with an evaluation. */
  scored: number;
  /** Whether no run has finished, so that `final` is the latest evaluation of each. */
  provisional: boolean;
  solved: number;
  /** Mean of `final`. */
  score: MeanInterval | null;
  /** Interquartile mean of `final`, as in rliable. */
  iqm: MeanInterval | null;
  /** Mean of `best`. */
  best: MeanInterval | null;
  area: MeanInterval | null;
  /** Number of seeds that reached the threshold. */
  reached: number;
  /** Mean over the seeds that reached it. */
  steps_to_threshold: MeanInterval | null;
  /** Mean over the seeds that reached it. */
  seconds_to_threshold: MeanInterval | null;
  /** The mean curve, with its 95 % band. */
  curve: MeanCurve;
}

/** The evaluation curves of one role, or of one task. */
export interface ComparedPart {
  /** Name of the role or task. */
  name: string;
  /** The metric, such as `eval/seeker:match/win_rate`. */
  key: string;
  /** One curve per side that recorded the metric. */
  curves: PartCurve[];
}

export interface ComparedRun {
  id: string;
  name: string;
  preset: string;
  /** Id of the environment; empty if that of a foreign run is unknown. */
  env: string;
  /** None if that of a foreign run is unknown. */
  seed: number | null;
  /** Its status; `foreign` if another program made it. */
  status: string;
  solved: boolean | null;
  score: RunScore | null;
  /** The score of a finished run; otherwise the mean return of its latest evaluation. The last training return, if training returns are compared (`Comparison.score_kind`). The evaluations of its parent do not count for a branch. */
  final: number | null;
  /** The highest mean return of an evaluation, or the score if that is higher; or the highest training return. */
  best: number | null;
  threshold: number | null;
  clocks: Record<string, number>;
  /** Mean height of the curve over the range that all curves cover; None without such a range. */
  area: number | null;
  learning: Learning | null;
  /** Position at which the lower bound of an evaluation first reached the threshold. */
  threshold_at: number | null;
  curve: EvaluationCurve;
}

export interface Comparison {
  /** The clock on the x axis of the curves. */
  x: string;
  /** The positions that all curves cover; None if there are none. */
  range: [number, number] | null;
  runs: ComparedRun[];
  config: SettingDifference[];
  /** The reason why the configs cannot be compared. */
  config_problem: string | null;
  /** Settings that some runs do not record, so that they may differ. */
  config_unknown: string[];
  /** Statistics over seeds of each side, if one of the sides is a group. */
  groups: ComparedGroup[];
  /** The comparison of every pair of sides; if there are more than 12 sides, each is compared only with the first. */
  improvements: Improvement[];
  /** Evaluation curves per role and per task, for runs that have several. */
  parts: ComparedPart[];
  /** The kind of return that `final`, `best`, `area` and the curves are about. Training returns, of sampled actions, are compared if a foreign run has no evaluations. */
  score_kind: "evaluation" | "training";
  /** Remarks on what cannot be compared, or only with care. */
  notes: string[];
}

export interface ConfigCheck {
  /** The presets and files that were checked. */
  checked: string[];
  /** Number of these that have problems. */
  wrong: number;
  problems: ConfigProblem[];
}

export interface ConfigDifference {
  /** Dotted key. */
  key: string;
  /** The value on the first side; None if it lacks the key. */
  a: unknown;
  b: unknown;
}

/** A mistake in a preset, a config file or the overrides. */
export interface ConfigProblem {
  /** `file:line`, `--set`, or empty. */
  at: string;
  /** Dotted key; empty if it is not about a single one. */
  key: string;
  /** The description of the mistake, with the expected value. */
  text: string;
  /** All of this in one line. */
  message: string;
}

/** The best trials and the baseline, trained again on seeds that no decision has seen. */
export interface Confirmation {
  /** The best first; the baseline is among them if the study has one. */
  trials: ConfirmedTrial[];
  /** Number of the best trial on fresh seeds; that of the baseline if none was better. */
  winner: number;
  /** Interquartile mean of the objective of the winner minus that of the baseline. */
  difference: MeanInterval | null;
  /** Whether the 95 % interval of the difference excludes 0; None if it is unknown. */
  exceeds_noise: boolean | null;
  /** The result as a sentence. */
  verdict: string;
  /** Env steps of the confirmation. */
  env_steps: number;
  /** Training time of the confirmation, summed over its runs. */
  seconds: number;
  /** The reason why it has fewer seeds than planned; empty if it has all of them. */
  shortened: string;
}

/** A trial, or the baseline, on fresh seeds. */
export interface ConfirmedTrial {
  trial: number;
  is_baseline: boolean;
  /** The objective of each seed; one that failed counts as the worst of all. */
  values: number[];
  /** Their mean, with a 95 % interval. */
  value: MeanInterval;
  /** Mean return on held-out episodes, per seed that finished. */
  scores: number[];
  /** Their mean, with a 95 % interval. */
  score: MeanInterval | null;
  /** Ids of the runs. */
  runs: string[];
}

/** The results of one pair. */
export interface CrossPlayCell {
  /** Win rate of the row role, draws counted as half; None without a known outcome. */
  rate: number | null;
  /** Lower end of the 95 % interval of the win rate. */
  low: number;
  /** Upper end of the interval. */
  high: number;
  /** Number of matches with a known outcome. */
  matches: number;
  /** Number of matches with an unknown outcome. */
  unknown: number;
}

/** The cross-play matrix of a run. */
export interface CrossPlayReport {
  /** Id of the run. */
  run: string;
  /** The role in the rows; win rates are from its side. */
  row_role: string;
  /** The role in the columns. */
  column_role: string;
  /** Players of the row role. */
  rows: string[];
  /** Players of the column role. */
  columns: string[];
  /** Results of each pair, [rows][columns]. */
  cells: CrossPlayCell[][];
  /** File of the picture of the matrix. */
  picture: string;
}

/** The state of a run's rows when its series were read. */
export interface CurveSource {
  /** Id of the run. */
  run: string;
  /** Position of the last row: `rows` with `after` has what follows. */
  cursor: number;
  /** Number of the latest attempt, as in `rows`. */
  attempt: number;
  /** Number of rows. */
  rows: number;
  /** The reason if its rows, or some of them, cannot be read; the series that need them are missing. */
  problem: string;
}

/** The decision of a policy for an observation. */
export interface Decision {
  /** The most likely action. */
  action: number | number[];
  /** Its name. */
  label: string;
  /** Probability of each option, in the order of an action mask; None if all elements are continuous. */
  probabilities: number[] | null;
  /** Mean of each element in the units of the environment; None if an element is discrete. */
  mean: number[] | null;
  /** Standard deviation of each element in the units of the environment, before clipping and squashing; None if an element is discrete. */
  std: number[] | null;
  /** The critic's estimate in learned reward, or the mean Q-value; None without a critic. */
  value: number | null;
  /** The same in raw reward; None if no constant factor converts it. */
  value_raw: number | null;
}

export interface Diagnosis {
  run: string;
  preset: string;
  outcome: RunOutcome;
  /** None if it is too early to say, or if nothing was measured. */
  healthy: boolean | null;
  /** The likeliest cause first. For a healthy run, problems that did no lasting harm. */
  findings: LikelyCause[];
  /** Unusual settings, metrics and curves; empty unless the run is not good enough. */
  unusual: string[];
  notes: string[];
  /** The patch: the changes of the first finding that has any, dotted config key -> value. For a foreign run, the hyperparameters of its library -> value. */
  changes: Record<string, unknown>;
  /** The part that applies only to a run of another program; None for a run of gymnast. */
  foreign: ForeignDiagnosis | null;
}

/** Something that differs between two hosts. */
export interface Difference {
  /** gymnast, python, the name of a package or module, or cpu. */
  what: string;
  here: string;
  there: string;
  /** True if one host cannot continue the work of the other. CPUs with other instruction sets can: the results are valid, but their last bits may differ. */
  blocks: boolean;
}

/** A finding that was passed to a command of the user. */
export interface DispatchedFinding {
  /** Title of the finding. */
  title: string;
  /** Whether the command succeeded. */
  ok: boolean;
  /** The output of the command, or the reason why it failed; shortened. */
  answer: string;
}

/** An entry of the contents of a page. */
export interface DocHeading {
  /** `PAGE#ANCHOR`: pass it to `docs`. */
  name: string;
  title: string;
}

/** A page of the documentation, or a section of one. */
export interface DocText {
  name: string;
  title: string;
  /** Markdown. */
  text: string;
  /** The sections of the page; all pages for the index. */
  headings: DocHeading[];
}

/** The lengths of the stored matches of a role: of each evaluation, the first few against each opponent. */
export interface DurationHistogram {
  /** The role that a learning policy had; empty for the matches of training. */
  role: string;
  /** Edges of the bins in steps, one more than bins; a bin includes its upper edge. */
  edges: number[];
  /** Number of matches in each bin. */
  counts: number[];
}

/** The rating of one player in one role. */
export interface EntrantRating {
  /** The role that the player takes. */
  role: string;
  /** The player: `step:N` or `scripted:NAME`; empty for the advantage of a role. */
  name: string;
  /** Elo points. */
  rating: number;
  /** Standard error of the rating; 0 if the rating is fixed. */
  error: number;
  /** Lower end of the 95 % interval. */
  low: number;
  /** Upper end of the interval. */
  high: number;
  /** Number of matches with a known outcome. */
  matches: number;
}

/** Names a stored episode or match. */
export interface EpisodeAddress {
  /** Path of the run directory. */
  run: string;
  /** How it was played, as in `EpisodeInfo`. */
  kind: "train" | "eval" | "confirm" | "fresh" | "played";
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Number of the episode, as in `EpisodeInfo`. */
  number: number;
  /** The role whose agent is inspected, in a match; empty for the first role that learned. */
  role: string;
  /** The seat of that role, from 0. */
  seat: number;
}

/** A stored episode, or a stored match between roles. */
export interface EpisodeInfo {
  /** train, eval (evaluation during training), confirm (held-out seeds, at the end), fresh (rolled out on request) or played (by a person). */
  kind: "train" | "eval" | "confirm" | "fresh" | "played";
  /** Env steps of the policy or, for training episodes, of the checkpoint; 0 without a policy. */
  version: number;
  /** Number of the episode, from 0: in its evaluation, among the training episodes of its checkpoint, or among the fresh or played episodes of the run. */
  number: number;
  /** Seed passed to `env.reset`. */
  seed: number;
  /** Number of steps. */
  length: number;
  /** Sum of the environment's rewards; None for a match. */
  raw_return: number | null;
  /** `terminated`, `truncated`, or `stopped` if it was not played to its end; for a match, the outcome that the environment reported, or `stopped`. */
  outcome: string;
  /** Index of the env copy; None for a match. */
  env: number | null;
  /** Role -> mean return of its seats, of a match. */
  returns: Record<string, number>;
  /** Role -> the policy or player that had it, in a match. */
  cast: Record<string, string>;
  /** Numbers from the last `info`: the preset's own metrics, and randomized parameters. */
  numbers: Record<string, number>;
  /** Distance between the discounted return and the critic's value of the first observation, in units of the environment's reward. None for a match, for a person's episode, and where values cannot be converted to these units: with shaping, `normalize.reward: sign` or without a critic. */
  surprise: number | null;
  /** How a fresh or played episode was played; None for those of training. */
  settings: EpisodeSettings | null;
}

/** A stored episode with all its steps; of a match, those of one agent. */
export interface EpisodeInspection {
  /** The name of the episode; of a match, with the role and the seat of the agent. */
  address: EpisodeAddress;
  /** Return, length, seed and outcome. */
  info: EpisodeInfo;
  /** Id of the environment. */
  env: string;
  /** The roles of a match; empty for an episode of a single agent. */
  roles: string[];
  /** The agents of a match, by role and seat; empty for an episode of a single agent. */
  seats: SeatInfo[];
  /** The actions, with their labels. */
  actions: ActionLabel[];
  /** The components of the observation that are columns of the table, with their ranges. */
  observations: ObsComponent[];
  /** Whether the observation has an image. */
  has_image: boolean;
  /** The columns of the table, in its order, with their units and meanings. */
  columns: ColumnInfo[];
  /** Column -> values, one per step; None where a number is not known. */
  table: Record<string, (boolean | number | string | null)[]>;
  /** The reason why columns are missing, e.g. because a checkpoint was removed; empty if none are. */
  table_note: string;
  /** The steps to look at first, ordered by step. */
  moments: KeyMoment[];
  /** Whether the episode was replayed exactly. */
  replay: ReplayInfo;
  /** The reason why the policy that played the episode is not available; empty if it is. Of a match, also the reason why probabilities and values may not be those with which the agent played. */
  policy_note: string;
  /** Whether the episode can be shown in pictures. */
  has_frames: boolean;
  /** The reason why there are no pictures; empty if there are. */
  frames_note: string;
  /** Frames per second at natural speed. */
  fps: number;
  /** Key -> the action that it plays: an index, or one number per element. */
  keys: Record<string, number | number[]>;
}

/** A part of the list of stored episodes. */
export interface EpisodePage {
  /** Id of the run. */
  run: string;
  /** The episodes, sorted by policy version, oldest first. */
  episodes: EpisodeInfo[];
  /** Pass it as `after` to get the episodes that follow; None if there are none. */
  cursor: string | null;
}

/** The settings with which an episode outside of training was played, and with which it is replayed. */
export interface EpisodeSettings {
  /** Dotted config key -> value: settings of the environment that replace those of the run. */
  overrides: Record<string, unknown>;
  /** Whether the policy sampled its actions instead of taking the most likely ones. */
  sampled: boolean;
  /** Number of steps after which it was to be stopped; None if it was played to its end. */
  max_steps: number | null;
  /** The role that a person played in a match; empty otherwise. */
  role: string;
}

export interface EvaluationCurve {
  /** Positions on the clock of the comparison. */
  x: number[];
  /** Mean returns, or win rates. */
  y: number[];
}

/** One evaluation of the learning curve. */
export interface EvaluationPoint {
  /** Env steps of the policy that was evaluated. */
  env_steps: number;
  mean_return: number;
  /** Lower end of the 95 % confidence interval. */
  low: number;
}

/** The result of `gymnast eval`. */
export interface EvaluationReport {
  /** The score of the policy; None if the environment has several roles. */
  score: PolicyScore | null;
  /** The results per cast, if the environment has several roles. */
  matches: MatchScore[];
}

/** A part of the events of a run. */
export interface EventPage {
  /** Id of the run. */
  run: string;
  /** The events, in order. */
  events: RunEvent[];
  /** Number of the last event: pass it as `after` to get the events that follow. */
  cursor: number;
  /** Number of events. If it is smaller than before, a resume has discarded some: read all again. */
  total: number;
}

/** The metrics of a run, written for other programs. */
export interface Export {
  /** Id of the run. */
  run: string;
  format: string;
  /** The file, or the folder of a tracker. */
  path: string;
  /** Number of rows. */
  rows: number;
}

/** An error as a value, for programs. */
export interface Failure {
  /** The kind of error: the `code` of its exception class. */
  code: string;
  /** The problem. */
  message: string;
  /** The place of the problem: a file, a config key, a run. */
  at: string;
  /** The way to fix it. */
  fix: string;
}

/** The test of one term for farming: the best result of a player that collects it without winning. The fields after `verdict` are None or empty if there were too few matches to compare. */
export interface FarmedTerm {
  /** The role that may farm the term. */
  role: string;
  /** Name of the reward term, or `all but the goal` for their sum. */
  term: string;
  /** `farmable`, `sound`, or `unknown` with too few matches. */
  verdict: "sound" | "farmable" | "outweighs" | "potential" | "unknown";
  /** The player that farmed the term best. */
  player: string;
  /** The opponent of this player. */
  opponent: string;
  /** The player that tries to win, with whose wins it is compared. */
  honest: string;
  /** Total of the term in matches that the player did not win, minus that of honest winners. */
  gain: Interval | null;
  /** Total of the goal term of these winners, minus that of the player. */
  goal: Interval | null;
  /** The gain divided by the goal. */
  share: number | null;
  /** Lower bound of the share. */
  low: number | null;
}

/** The test of all terms for farming. */
export interface FarmingTest {
  /** Number of matches of each player against each opponent. */
  matches: number;
  /** The lower bound of the share from which a term counts as farmable. */
  threshold: number;
  /** The result for each role and term. */
  terms: FarmedTerm[];
}

/** A film of a stored episode, of a match or of learning progress; or a picture with frames of one. */
export interface Film {
  /** The file. */
  path: string;
  /** The kind of the stored episode, as in `EpisodeInfo`; `learning` for several evaluations. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint; None for several. */
  version: number | null;
  /** The selection: `best`, `last`, a number, or for a match its players and result. */
  which: string;
  /** Index of the episode or match among the stored ones, from 0. */
  episode: number | null;
  /** Seed of the episode or match. */
  seed: number | null;
  /** Return of the episode; None for matches. */
  episode_return: number | null;
  /** Number of steps. */
  length: number | null;
  /** Role -> player, of a match. */
  cast: Record<string, string>;
  /** Role -> return, averaged over its agents, of a match. */
  returns: Record<string, number>;
  /** Outcome of a match, if it is known. */
  outcome: string;
  /** Role -> its speed, if it was slowed in a match. */
  handicap: Record<string, number>;
  /** The evaluations in a film of learning progress. */
  clips: FilmClip[];
  /** True if the replay is the same as the stored episode in every step. */
  exact: boolean;
  /** The difference from the stored episode, if it is not exact. */
  note: string;
  /** Frames per second; 0 for a picture. */
  fps: number;
  /** Number of frames. */
  frames: number;
  /** Width and height in pixels. */
  size: [number, number];
  /** Video codec; `png` for a picture. */
  codec: string;
  /** Unix time at which it was made. */
  created: number;
}

/** One part of a film of learning progress. */
export interface FilmClip {
  /** Env steps of the policy. */
  version: number;
  /** Seed of the episode. */
  seed: number;
  /** Return of the episode. */
  episode_return: number;
}

/** The films that were made. */
export interface FilmReport {
  /** Id of the run. */
  run: string;
  /** The films, or the picture. */
  films: Film[];
}

/** The films or the trajectories of a run, which wait or are being made. */
export interface FilmRequest {
  /** Id of the run. */
  run: string;
  part: "trajectories" | "films";
  /** Whether they are being made. */
  running: boolean;
  /** Steps of the longest episode of the best evaluation; shorter films are made first. */
  steps: number;
}

/** The result of one check. */
export interface Finding {
  /** Name of the check, a key of CHECKS. */
  check: string;
  /** The verdict of the check. */
  verdict: "ok" | "wrong" | "warning" | "note";
  /** The finding, in words. */
  what: string;
  /** Episode, seed and step of the first occurrence. */
  where: string;
  /** Traceback of an exception in the environment's own code. */
  traceback: string;
  /** Consequence for training; empty unless the verdict is wrong. Reports fill it in. */
  means: string;
}

/** The part of a diagnosis that applies only to foreign runs. */
export interface ForeignDiagnosis {
  /** The file format in words. */
  format: string;
  /** The library whose names the metrics have. */
  library: string;
  /** The files that were read. */
  files: string[];
  /** Id of the environment; empty if it is unknown. */
  env: string;
  /** Env steps of the last row. */
  env_steps: number;
  /** Number of rows. */
  rows: number;
  /** The course of the return. */
  verdict: "solved" | "learning" | "stalled" | "collapsed" | "unknown";
  /** The kind of return that the verdict is about. */
  score_kind: "evaluation" | "training";
  /** The problems that were looked for. */
  checked: string[];
  /** The problems that could not be looked for. */
  not_checked: NotChecked[];
  /** Hyperparameters that are known and that have a setting in gymnast, under the names of the library. */
  hyperparameters: Record<string, string>;
  /** The damage of the files, as sentences. */
  problems: string[];
}

/** One setting. */
export interface FormField {
  /** Dotted key, as with --set. */
  key: string;
  /** The kind of its values. Numbers may also be written as 50k, 2M or 25%, or as one of `choices`. */
  kind: "number" | "integer" | "text" | "choice" | "switch" | "list" | "mapping";
  /** The meaning of the setting. */
  doc: string;
  /** The present value, as plain JSON. */
  value: unknown;
  /** The present value as it is written after `KEY=`. */
  text: string;
  /** The value without preset and overrides; None if there is none. */
  default: unknown;
  /** The place that the value comes from, such as `variant ppo, CartPole-v1.yaml:12`. */
  origin: string;
  /** The kind of this place. */
  layer: "default" | "preset" | "variant" | "command line";
  /** The accepted words, as they are written after `KEY=`: all values of a choice or switch, and words that may replace a value of another kind, such as off and auto. */
  choices: string[];
  /** Whether it may be a schedule, such as `3e-4 -> 0`. */
  schedulable: boolean;
  /** Whether it can be changed while a run is training. */
  live: boolean;
  /** Whether it has an effect, given the other values. */
  applies: boolean;
  /** Completes the sentence "It applies only ..."; empty if it always applies. */
  condition: string;
  /** Lower bound of a number, which may itself be excluded; None if there is none. */
  low: number | null;
  /** Upper bound of a number. */
  high: number | null;
}

/** The fields of one section of the config. */
export interface FormSection {
  /** Dotted name of the section; `general` for settings that belong to none. */
  name: string;
  doc: string;
  fields: FormField[];
}

export interface FormattedFile {
  path: string;
  /** Whether the file was, or with `check` would be, changed. */
  changed: boolean;
}

/** The matches of a query, the best first. */
export interface Found {
  query: string;
  /** Kind -> number of matches; kinds without any are missing. */
  counts: Record<string, number>;
  /** Word of the query that occurs nowhere -> the words that were searched for instead. */
  corrected: Record<string, string[]>;
  /** A page of the matches. */
  hits: Hit[];
  /** Number of matches before this page. */
  offset: number;
  /** Pass it as `offset` to get the matches that follow; None if there are none. */
  cursor: number | null;
}

/** One frame of a stored episode as a PNG. */
export interface Frame {
  /** Number of steps taken so far. */
  step: number;
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
  /** The file; empty if the frame was not written to one. */
  path: string;
  /** The PNG in base64; empty if it was written to a file. */
  png: string;
}

/** Frames of a stored episode or match. */
export interface FrameReport {
  /** Id of the run. */
  run: string;
  /** The kind of the stored episode, as in `EpisodeInfo`. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Index of the episode or match among the stored ones, from 0. */
  episode: number;
  /** Number of steps of the episode. */
  length: number;
  /** True if the replay is the same as the stored episode in every step. */
  exact: boolean;
  /** The difference from the stored episode, if it is not exact. */
  note: string;
  /** The frames, in the order of the steps. */
  frames: Frame[];
}

/** The scores of a group of seeds. Runs without a score, or that did not finish, do not enter mean, IQM and interval, which are None if no run is left. Nor do unconfirmed scores, and scores over too few episodes, unless there are no others. */
export interface GroupResult {
  /** Number of runs. */
  runs: number;
  /** Number of runs whose score enters the mean. */
  scored: number;
  solved: number;
  /** All runs, by seed. */
  scores: SeedScore[];
  /** Mean score over seeds. */
  mean: number | null;
  /** Interquartile mean over seeds, as in rliable. */
  iqm: number | null;
  /** Lower bound of the 95 % confidence interval of the mean over seeds; None for fewer than two scores. */
  low: number | null;
  high: number | null;
  /** The reason why the mean is not comparable with that of confirmed scores; empty if it is. */
  caveat: string;
}

/** Something that was found. */
export interface Hit {
  kind: "preset" | "environment" | "metric" | "setting" | "doc" | "run";
  /** Its name in other functions and commands; for documentation, the name that `docs` reads. */
  name: string;
  /** One line about it. */
  text: string;
  /** The next useful command. */
  more: string;
}

/** The comparison of a host with this machine. */
export interface HostCheck {
  provider: string;
  here: HostFacts;
  /** None if the provider has no `shell`: then every job makes the comparison when it starts. */
  there: HostFacts | null;
  differences: Difference[];
  /** Whether jobs of this machine can train there. */
  ok: boolean;
}

/** The properties of a host that the results of a run depend on. */
export interface HostFacts {
  /** Name of the host. */
  host: string;
  /** The first digits of the SHA-256 of gymnast's own Python files and presets. It is the same on two hosts with the same code, also if the code was changed after its last commit or was installed from a wheel. */
  code: string;
  /** Commit of gymnast's code, for messages; empty if it is unknown. */
  revision: string;
  /** Version of Python, without its last number: 3.11. */
  python: string;
  /** Package -> installed version, or `not installed`. */
  packages: Record<string, string>;
  /** Module of the user -> the first digits of the SHA-256 of its file, or `not installed`. */
  modules: Record<string, string>;
  /** Instruction sets of the CPU that affect sums of floats. */
  instructions: string[];
}

/** The predicted speed of a run on several hosts, each with a core of its own. */
export interface HostsPrediction {
  /** Number of hosts. */
  hosts: number;
  /** Env steps per second with collect.mode=sync. */
  sync: number;
  /** Env steps per second with collect.mode=overlap; None if the algorithm does not support it. */
  overlap: number | null;
}

/** One side of a comparison, `a`, compared with another, `b`, by the scores of their seeds. */
export interface Improvement {
  /** Name of the first side. */
  a: string;
  /** Name of the second side. */
  b: string;
  /** Probability that a run of `a` scores higher than a run of `b`, where a tie counts half; the mean over environments. None if the sides cannot be compared. */
  probability: number | null;
  /** Lower end of its 95 % interval; None if a side has fewer than two seeds. */
  low: number | null;
  /** Upper end of the interval. */
  high: number | null;
  /** Interquartile mean of the scores of `a` minus that of `b`. None for several environments, whose returns are on different scales. */
  difference: MeanInterval | null;
  /** The side with the higher score, `a` or `b` by name; None if they are equal or cannot be compared. */
  better: string | null;
  /** Whether the 95 % interval of the difference excludes 0 or, for several environments, that of the probability excludes 0.5. None if a side has fewer than two seeds. */
  exceeds_noise: boolean | null;
  /** The reason why `exceeds_noise` is unknown; empty if it is known. */
  problem: string;
  /** The reason why the comparison is unreliable: fewer than five seeds, unconfirmed scores, or scores over too few episodes; empty if it is reliable. */
  caution: string;
  /** The same for the other measures that both sides have; empty for several environments. */
  measures: MeasureDifference[];
}

/** A mean and its 95 % confidence interval. */
export interface Interval {
  /** The mean. */
  mean: number;
  /** Lower end of the interval. */
  low: number;
  /** Upper end of the interval. */
  high: number;
}

/** A background job. The fields that a damaged record lacks are empty. */
export interface JobStatus {
  id: string;
  /** queued or starting (a job that does not train yet), running, paused, stalled, or how it ended: finished, stopped, failed, lost. */
  status: string;
  /** The reason for the status; empty if there is none. */
  reason: string;
  /** Directory of the run. */
  path: string;
  /** The preset that it trains. */
  target: string;
  name: string;
  seed: number | null;
  /** Id of its group of seeds. */
  group: string | null;
  /** Time of its start, in seconds since the epoch. */
  created: number;
  pid: number | null;
  /** None until its process has ended, and if it was killed. */
  exit_code: number | null;
  /** The final message of its process. */
  words: string;
  /** The provider that trains it; empty: this machine. */
  on: string;
}

/** A step to look at. */
export interface KeyMoment {
  /** Index of the step. */
  step: number;
  /** value_error: the value was far from the discounted return that followed. td_error: a large TD error. value_drop: the value fell suddenly. surprise: an action that the policy rarely chooses. reward: an unusual reward. end: the last step. */
  kind: "value_error" | "td_error" | "value_drop" | "surprise" | "reward" | "end";
  /** Size relative to the largest of its kind in this episode, from 0 to 1. */
  size: number;
  /** A few words that say what happened. */
  text: string;
}

/** One layer: its shapes, size, and activations on the batch. */
export interface LayerReport {
  /** Part and index, such as `actor.0`. */
  name: string;
  /** Type of the layer, or name of the activation function. */
  kind: string;
  /** Shape of one batch element of its input. */
  input: number[];
  /** Shape of one batch element of its output. */
  output: number[];
  /** Number of parameters. */
  parameters: number;
  /** Size of the parameters. */
  bytes: number;
  /** Mean of the activations over batch and units. */
  mean: number;
  /** Standard deviation of the activations over batch and units. */
  std: number;
  /** Share of units on the flat side of their activation function for the whole batch; None if the layer has no such side. */
  dead: number | null;
  /** Share of tanh values close to -1 or 1; None for other layers. */
  saturated: number | null;
}

/** The ratings of a run, from its evaluations against scripted opponents. */
export interface LeagueRatings {
  /** Id of the run. */
  run: string;
  /** The ratings on the Elo scale: scripted:medium is 1000, and 400 points mean odds of 10 to 1. */
  ratings: RatingTable;
}

/** A summary of how well a run trained, from its evaluation curve. */
export interface Learning {
  /** Normalized area under the curve: 1 if the run was at the threshold from the start. None without a threshold, or if the first return already reaches it. */
  area: number | null;
  /** Fraction of the budget that was not used. */
  unused: number;
  mean_return: number;
  /** Env steps until the lower bound of an evaluation reached the threshold; None if none did. */
  steps_to_threshold: number | null;
  seconds_to_threshold: number | null;
}

/** Something of the run that the bundle does not have. */
export interface LeftOut {
  /** A part, or a file or folder of the run directory. */
  name: string;
  /** Number of bytes on disk, not compressed. */
  size: number;
  reason: string;
}

export interface LikelyCause {
  cause: string;
  weight: number;
  evidence: string[];
  /** Advised settings, dotted config key -> value; only settings that concern learning. */
  changes: Record<string, unknown>;
  alerts: string[];
  /** Whether its alerts were active for a large part of the run. */
  lasting: boolean;
  /** Advice in words, with the names of the library that made a foreign run; empty for a run of gymnast. */
  advice: string;
}

/** A part of the log of a run, or of the output of its job before the run exists. */
export interface LogPage {
  /** Id of the run or job. */
  run: string;
  /** Complete lines, without line breaks; a line longer than a page is divided. Bytes that are not UTF-8 are replaced. */
  lines: string[];
  /** Pass it as `after` to get the lines that follow. */
  cursor: string;
  /** Whether there are more lines now. */
  has_more: boolean;
  /** Whether the run has ended and this is the end of its log. */
  ended: boolean;
}

/** The results of matches between the players of one cast, on held-out seeds. */
export interface MatchScore {
  /** Id of the run. */
  run: string;
  /** Id of the environment. */
  env: string;
  /** Env steps of the checkpoint that plays as `learner`. */
  checkpoint: number;
  /** Number of matches that finished. */
  episodes: number;
  /** Number of matches that were planned. */
  planned: number;
  /** The reason why planned matches are missing; empty if none is. */
  missing: string;
  /** True if policies played their most likely actions, False if they sampled. */
  deterministic: boolean;
  /** Role -> its player and results. */
  roles: Record<string, RoleScore>;
  /** Metrics of the matches, such as `match/duration`. */
  numbers: Record<string, number>;
  /** Outcome of each match; empty if it is unknown. */
  outcomes: string[];
  /** Seed of each match. */
  seeds: number[];
}

/** The mean over seeds at every x. */
export interface MeanCurve {
  /** Positions on the clock of the comparison. */
  x: number[];
  /** Mean returns, or win rates. */
  y: number[];
  /** Lower end of the 95 % interval of the mean over seeds at every x; None for a single seed. */
  low: (number | null)[];
  /** Upper end of the interval. */
  high: (number | null)[];
  /** Number of seeds at every x. */
  n: number[];
}

/** A mean over seeds with its 95 % confidence interval, which a single seed does not have. */
export interface MeanInterval {
  mean: number;
  low: number | null;
  high: number | null;
}

/** The difference of one measure between two sides of a comparison, `a` and `b`. */
export interface MeasureDifference {
  /** best, area, steps_to_threshold or seconds_to_threshold of a run. */
  measure: string;
  higher_is_better: boolean;
  /** Interquartile mean over the runs of `a` that have a value, minus that of `b`. */
  difference: MeanInterval;
  /** The better side by name; None if they are equal, or if a run has no value. */
  better: string | null;
  /** Whether the 95 % interval of the difference excludes 0; None if `problem` says why this is unknown. */
  exceeds_noise: boolean | null;
  /** The reason why `exceeds_noise` is unknown; empty if it is known. */
  problem: string;
}

/** Metrics of runs as series with a limited number of points. */
export interface MetricCurves {
  /** The clock that the x values count. */
  x: string;
  /** The positions that the series cover; None without any row. */
  range: [number, number] | null;
  /** Metric by metric, and for each metric run by run; runs without the metric have none. */
  series: MetricSeries[];
  runs: CurveSource[];
}

/** The description of a metric. */
export interface MetricInfo {
  name: string;
  section: string;
  meaning: string;
  /** `share` for shares of 1; empty if it has none. */
  unit: string;
  /** `higher`, `lower`, or empty. */
  better: string;
  /** How it is computed. */
  estimator: string;
  /** The rows or episodes that it is computed over. */
  window: string;
  /** Whether a repetition of the run gives the same value, bit for bit. */
  exact: boolean;
  /** Number of digits that are displayed. */
  digits: number;
  /** Its place in the live table; lower numbers are shown first. */
  priority: number;
  in_table: boolean;
  /** Possible values, None for an open end; None if they depend on the task or there are none. */
  bounds: [number | null, number | null] | null;
  bounds_text: string;
  /** Healthy values. */
  healthy: [number | null, number | null] | null;
  /** Empty if every value is healthy. */
  healthy_text: string;
  /** Advice if it is too low. */
  if_low: string;
  if_high: string;
}

/** A value of a metric. */
export interface MetricPoint {
  /** Position on the clock. */
  at: number;
  value: number;
}

/** Rows of metrics, one per rollout, and one per evaluation that finished after the row of its rollout. */
export interface MetricRows {
  /** Id of the run. */
  run: string;
  /** Key -> value; a row has only the keys that were measured. */
  rows: Record<string, number>[];
  /** Position of the last row: pass it as `after` to get the rows that follow. */
  cursor: number;
  /** Whether there are more rows now, which `limit` cut off. */
  has_more: boolean;
  /** Number of the latest attempt to train the run. If it is another one than before, a resume has replaced the rows after its checkpoint: read all rows again. */
  attempt: number;
}

/** One metric of one run over time, in buckets of rows. All lists have the same length. */
export interface MetricSeries {
  /** Id of the run. */
  run: string;
  /** The metric. */
  key: string;
  /** Positions on the clock. If some series of a metric is reduced and there are several runs, the same for all of them; else those of the rows, or the means of buckets of rows. */
  x: number[];
  /** Mean of each bucket; NaN where every value is NaN, and outside of the rows of this run. */
  mean: number[];
  /** Minimum of each bucket. Equal to `mean` if nothing was reduced. */
  low: number[];
  /** Maximum of each bucket. Equal to `mean` if nothing was reduced. */
  high: number[];
  /** Number of points before they were reduced. */
  total: number;
}

/** The development of one metric. */
export interface MetricTrend {
  /** The metric. */
  key: string;
  /** `higher`, `lower`, or empty if no direction is better. */
  better: string;
  /** Number of points that were examined: rows, or means of rows if there are very many. */
  points: number;
  first: MetricPoint;
  last: MetricPoint;
  lowest: MetricPoint;
  highest: MetricPoint;
  /** The last tenth of the points compared with the first tenth. */
  overall: Movement;
  /** The line fitted to the recent part, of at least eight points. */
  recent: Movement;
  /** Slope of this line, per 1,000 of the clock. */
  slope: number | null;
  /** The largest sudden change in any direction; None if the metric is constant or has too few points. */
  jump: SuddenChange | null;
  /** A sudden loss of more than half of what the metric had gained, and of more than noise; None if there is none, or if no direction is better. */
  collapse: SuddenChange | null;
  /** Whether the mean of the recent part is in the healthy range; None if the metric has none. */
  healthy: boolean | null;
  /** One line about it. */
  text: string;
}

/** A chart of the monitor as data. */
export interface MonitorChart {
  /** Unique name among the charts of a report, and the stem of its picture. */
  name: string;
  title: string;
  /** Whether it shows one run, or compares approaches. */
  about: "run" | "approach";
  /** Id of the run; empty for a comparison of approaches. */
  run: string;
  /** Unit of the y axis; empty if it has none. */
  unit: string;
  kind: "lines" | "histogram" | "stacked shares";
  x_label: string;
  series: MonitorSeries[];
  /** The columns that it was drawn from. */
  sources: SourceColumn[];
  /** Ids of the runs that it was drawn from. */
  runs: string[];
  /** Number of rows that each point is the moving average of; 1 without smoothing. */
  smooth: number;
  /** Explains the smoothing and the bands in words. */
  note: string;
}

/** The overview and the charts of all selected runs. */
export interface MonitorReport {
  /** One row per run, ordered by environment, approach and seed. */
  overview: OverviewRow[];
  charts: MonitorChart[];
  /** Runs that were left out because their columns are broken. */
  skipped: SkippedRun[];
  /** All approaches, in the order of the overview. */
  approaches: string[];
  /** Number of points that a smoothed curve averages. */
  smooth: number;
}

/** One curve, histogram or share of a chart. */
export interface MonitorSeries {
  label: string;
  /** The role that it is about; empty if it is about none, or about a single agent. */
  role: string;
  /** The approach that it is about. */
  approach: string;
  /** Positions of the points on the clock; for a histogram, the edges of the bins, one more than `y`. */
  x: number[];
  /** Values, or shares (0..1) of all matches; for a histogram, the share of the matches in each bin. NaN is a gap: rows without a value. */
  y: number[];
  /** Lower edge of the band at each point; empty without a band. */
  low: number[];
  /** Upper edge of the band. */
  high: number[];
  /** The meaning of the band; empty without a band. */
  band: "" | "95 % interval" | "95 % interval of the mean over runs" | "lowest to highest run";
  /** Number of runs that have a value at each point; empty in a chart about one run. */
  n: number[];
}

/** The movement of a metric over a part of the run. */
export interface Movement {
  verdict: "better" | "worse" | "flat" | "rising" | "falling" | "unknown";
  /** The change over this part; None if there are too few points. */
  change: number | null;
  /** Standard error of the change. Changes of up to three of them count as flat. */
  noise: number | null;
}

/** The networks of an environment or a run, on one real batch. */
export interface NetworkReport {
  /** The preset, or the run with its checkpoint. */
  target: string;
  /** True if the networks are newly initialized, False if they come from a run. */
  fresh: boolean;
  /** Number of env steps in the batch. */
  env_steps: number;
  /** Number of environment copies in which the batch was collected. */
  n_envs: number;
  /** Role -> its network; the only role of single-agent environments is `agent`. */
  roles: Record<string, RoleNetwork>;
}

/** A project that was created from the template. */
export interface NewProject {
  name: string;
  directory: string;
  files: string[];
}

/** Something that a person or an assistant should look at. */
export interface NightlyFinding {
  /** One line: what is wrong, and where. */
  title: string;
  /** The observation, with numbers. */
  observed: string;
  /** The command that shows it again. */
  command: string;
  /** The work that it asks for. */
  todo: string;
  /** Name of the step that found it. */
  step: string;
  /** All of this as Markdown, which is complete without the report: the text of a task. */
  text: string;
}

/** The report of a night, complete or so far. */
export interface NightlyReport {
  /** Date and time in UTC, as `2026-11-18 02:00`. */
  started: string;
  /** Wall time so far. */
  seconds: number;
  /** The time that was allowed. */
  minutes: number;
  /** Number of the night: it decides where the rotating samples start. */
  seed: number;
  /** Version of gymnast. */
  version: string;
  /** Commit of the code; empty if it is unknown. */
  revision: string;
  /** CPU model and number of cores. */
  machine: string;
  /** One report per step, in order. */
  steps: StepReport[];
  /** Whether every step has had its turn. */
  finished: boolean;
  /** 0: nothing was found; 1: there are findings; 2: there are none, but something could not be run. */
  exit_code: number;
  /** The result in one sentence. */
  verdict: string;
  /** The findings that were passed to a command. */
  dispatched: DispatchedFinding[];
}

/** A check that the run does not have the metrics or settings for. */
export interface NotChecked {
  /** The problem that it would find. */
  check: string;
  /** The metrics and settings that the run does not have. */
  missing: string[];
}

/** A number of the observation. */
export interface ObsComponent {
  /** Name of its column in the table. */
  column: string;
  /** Its name. */
  name: string;
  /** Smallest possible value; None if there is no bound or it is not known. */
  low: number | null;
  /** Largest possible value; None if there is no bound or it is not known. */
  high: number | null;
  /** Unit; empty if it has none or it is not known. */
  unit: string;
  /** A sentence that says where the range comes from. */
  doc: string;
}

/** A picture of a part of an observation that is an image. */
export interface ObsImage {
  /** Name of the part: `now`, or `-3` for the frame of three observations before; the channel, if there are other ones than red, green and blue. Empty if the picture is the whole image. */
  name: string;
  /** The bytes of a PNG, in base64. */
  picture: string;
}

/** The image of an observation, as the network reads it. */
export interface ObsImages {
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
  /** The pictures in it: the frames of a stack, oldest first; none if the observation has no image. */
  images: ObsImage[];
}

/** One run in the overview, a line of run_overview.csv. */
export interface OverviewRow {
  /** Tag or variant that the run belongs to. */
  approach: string;
  /** Id of the run. */
  run: string;
  name: string;
  env: string;
  algo: string;
  seed: number | null;
  status: string;
  /** Env steps of the last row. */
  env_steps: number;
  /** Number of training episodes or matches that ended; None if the source does not count them. */
  episodes: number | null;
  /** One entry per learning role; a single agent has one entry with an empty role. */
  roles: RoleOverview[];
  /** Outcome -> its share in the last window of training matches: tag, timeout, ..., unknown. Empty for a single agent. */
  outcomes: Record<string, number>;
  /** Mean number of steps of the last window of training episodes or matches. */
  mean_length: number | null;
  /** Number of alerts. */
  alerts: number;
  /** Whether it is solved, in words; empty without a threshold. */
  verdict: string;
  /** Files that it was read from. */
  sources: string[];
}

/** The importance of one parameter. */
export interface ParameterImportance {
  name: string;
  /** Its share of what distinguishes the best quarter of the trials from the others, 0 to 1 (PED-ANOVA). */
  importance: number;
  /** Lower end of its 95 % bootstrap interval over trials. */
  low: number;
  high: number;
}

/** One parameter of a space. */
export interface ParameterRecord {
  name: string;
  kind: "float" | "int" | "choice";
  low: number | null;
  high: number | null;
  log: boolean;
  /** The values in order, for a choice. */
  choices: unknown[];
  /** Whether neighbors are similar: a range, or increasing numbers. */
  ordered: boolean;
}

/** One parameter and its gradient on the batch. */
export interface ParameterReport {
  /** Name of the parameter, such as `actor.0.weight`. */
  name: string;
  /** Shape of the parameter. */
  shape: number[];
  /** L2 norm. */
  norm: number;
  /** L2 norm of the gradient; None without a gradient. */
  gradient_norm: number | null;
  /** Largest absolute element of the gradient; None without a gradient. */
  gradient_max: number | null;
}

/** The curve of one side of a comparison. */
export interface PartCurve {
  /** Positions on the clock of the comparison. */
  x: number[];
  /** Mean returns, or win rates. */
  y: number[];
  /** Lower end of the 95 % interval of the mean over seeds at every x; None for a single seed. */
  low: (number | null)[];
  /** Upper end of the interval. */
  high: (number | null)[];
  /** Number of seeds at every x. */
  n: number[];
  /** Name of the side. */
  name: string;
}

/** A picture with the paths of one or more trajectories. */
export interface PathPicture {
  /** The PNG file. */
  path: string;
  /** Id of the run. */
  run: string;
  /** Kind of the episodes. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Numbers of the episodes or matches that it shows. */
  numbers: number[];
}

/** The pictures that were made. */
export interface PathPictures {
  /** The directory of the pictures. */
  directory: string;
  /** The pictures, by run, kind and version. */
  pictures: PathPicture[];
  /** Episodes of the run without a trajectory. */
  skipped: SkippedEpisode[];
}

/** A game that was stopped. */
export interface PlayEnd {
  /** Id of the game. */
  session: string;
  /** The stored episode; None if no step was taken. */
  episode: PlayedEpisode | null;
}

/** A key of the keyboard and what it does. */
export interface PlayKey {
  /** Its name: a character, or a name such as left, up, space. */
  key: string;
  /** Its action in words, with the labels of the preset. */
  does: string;
}

/** A game that was started. */
export interface PlayStart {
  /** Id of the game, for the calls that follow. */
  session: string;
  /** Id of the run with which it is stored. Empty for an environment, whose run is found or created when the game ends. */
  run: string;
  /** Id of the environment. */
  env: string;
  /** Env steps of the policy that plays the other roles or is shown next to the person's; 0 without one. */
  version: number;
  /** Seed passed to `env.reset`. */
  seed: number;
  /** Frames per second at natural speed. */
  fps: number;
  /** The keys. Keys that are held together act together. */
  keys: PlayKey[];
  /** True if nothing happens while no key is pressed; else a step without a key takes the idle action. */
  waits_for_key: boolean;
  /** The role of the person in a match; empty for a single agent. */
  role: string;
  /** All roles of a match; empty for a single agent. */
  roles: string[];
  /** Role -> the player that has it, in a match. */
  cast: Record<string, string>;
  /** The state before the first step. */
  state: PlayState;
}

/** The state of a game after the last steps. */
export interface PlayState {
  /** Id of the game. */
  session: string;
  /** Number of steps taken so far. */
  step: number;
  /** Sum of the rewards of the steps that were just taken; 0 if there was none. */
  reward: number;
  /** Sum of all rewards so far. */
  total: number;
  /** Whether the episode was terminated. */
  terminated: boolean;
  /** Whether the episode was truncated. */
  truncated: boolean;
  /** Whether the game is over: the episode ended, or all agents of a match have ended. */
  over: boolean;
  /** `terminated` or `truncated`, or the outcome of a match that is over; empty otherwise. */
  outcome: string;
  /** The current frame in base64. */
  picture: string;
  /** Type of the picture: image/png or image/jpeg. */
  media_type: string;
  /** Width of the picture in pixels. */
  width: number;
  /** Height of the picture in pixels. */
  height: number;
  /** The stored episode, once the game is over. */
  episode: PlayedEpisode | null;
}

/** The stored episode or match of a game that is over or was stopped. */
export interface PlayedEpisode {
  /** Id of the run with which it is stored. */
  run: string;
  /** The name of the stored episode. */
  address: EpisodeAddress;
  /** Return, length, seed and outcome. */
  info: EpisodeInfo;
}

/** The learning curve of the best trial or of the baseline: its mean over seeds. */
export interface PlottedCurve {
  label: string;
  trial: number;
  is_baseline: boolean;
  /** Whether the runs are those of the confirmation, on seeds that did not select the trial. */
  is_confirmed: boolean;
  /** Number of runs. */
  seeds: number;
  /** Mean return of the evaluations over env steps, with the 95 % band over seeds. */
  curve: MeanCurve;
}

/** One axis: a parameter of the space. */
export interface PlottedParameter {
  name: string;
  /** Texts along the axis, from its start to its end: all choices, or the ends and the middle of a range. */
  ticks: string[];
  /** The place of each text, from 0 to 1. */
  positions: number[];
  /** Whether every position between the ticks has a meaning. */
  is_range: boolean;
}

/** One trial: a point of the history and of the slices, a line of the parallel coordinates. */
export interface PlottedTrial {
  number: number;
  /** Whether it trains the target without a change. */
  is_baseline: boolean;
  /** complete: trained with the whole budget; waiting: stopped at a rung, so that its value is that of a shorter run and not comparable; failed: no usable result; training: no result yet. */
  state: "training" | "waiting" | "complete" | "failed";
  /** Mean objective over its seeds; None without a result. */
  value: number | null;
  /** The objective of each seed. */
  seeds: (number | null)[];
  /** The best value of a complete trial so far; None before the first. */
  best: number | null;
  /** Its place on each axis from 0 to 1; None if it does not use the parameter, and for the baseline. */
  positions: (number | null)[];
  /** Its value of each parameter; empty if it does not use it. */
  texts: string[];
  /** Ids of its runs, by seed; none while they are unknown. */
  runs: string[];
}

/** The score of a checkpoint on held-out episode seeds. */
export interface PolicyScore {
  /** Id of the run. */
  run: string;
  /** Id of the environment. */
  env: string;
  /** Env steps of the checkpoint. */
  checkpoint: number;
  /** Directory of the checkpoint. */
  path: string;
  /** Mean return. */
  mean: number;
  /** Lower end of the 95 % interval of the mean; None for a single episode, which has no interval. */
  low: number | null;
  /** Upper end of the interval. */
  high: number | null;
  /** Interquartile mean of the returns. */
  iqm: number;
  /** Number of episodes in the score. */
  episodes: number;
  /** Number of episodes that were planned. */
  planned: number;
  /** The reason why planned episodes are missing; empty if none is. */
  missing: string;
  /** Number of episodes that the environment broke in every attempt. */
  left_out: number;
  /** Number of episodes that had not ended at eval.timeout. */
  unfinished: number;
  /** False if the missing episodes bias the score. */
  sound: boolean;
  /** Mean length of the episodes, in steps. */
  length: number;
  /** The mean return from which the environment counts as solved; None if none is declared. */
  threshold: number | null;
  /** True if the most likely actions were played, False if they were sampled. */
  deterministic: boolean;
  /** Return of each episode. */
  returns: number[];
  /** Length of each episode, in steps. */
  lengths: number[];
  /** Seed of each episode. */
  seeds: number[];
  /** Metrics that the preset declares, from the last info of each episode: name -> one value per episode, None if its info has none. Empty if no episode has any. */
  numbers: Record<string, (number | null)[]>;
}

/** The content of the pre-flight text. Empty fields are not shown. */
export interface Preflight {
  preset: string;
  /** False if there is no preset file and defaults for the type of spaces are used. */
  has_preset: boolean;
  seed: number | null;
  /** Number of env copies. */
  n_envs: number | null;
  /** Description of the observation space. */
  observation: string;
  /** Description of the action space. */
  action: string;
  /** Layer widths, such as "4 -> 64 -> 64 -> 2". */
  network: string;
  /** Number of parameters of all networks. */
  parameters: number | null;
  /** The compute engine, and why it was chosen. */
  engine: string;
  /** Time limit of an episode, if it is not the environment's own. */
  time_limit: string;
  /** Clock -> limit, the main one first. */
  budget: Record<string, number>;
  threshold: number | null;
  /** The origin of the threshold, if it is not a preset. */
  threshold_origin: string;
  /** Conditions that end training before the budget does, each a clause. */
  stops: string[];
  /** Every setting that is not a default. */
  settings: ChosenSetting[];
  /** One sentence each. */
  warnings: string[];
}

/** The result of testing one preset. */
export interface PresetOutcome {
  /** The preset, as `ENV:VARIANT`. */
  target: string;
  /** The verdict; `skipped` if a package is missing. */
  verdict: "passed" | "failed" | "skipped";
  /** Reason of a failure, or the missing package. */
  reason: string;
  /** Duration of the test. */
  seconds: number;
  /** Findings about its environment or facts that are wrong. */
  findings: Finding[];
}

/** One preset of a list. If its file cannot be read, only `name`, `path` and `problem` are known. */
export interface PresetSummary {
  name: string;
  path: string;
  /** Whether it is shipped with gymnast, and not the user's own. */
  shipped: boolean;
  /** The reason why the file cannot be read. */
  problem: string;
  family: string;
  /** The variant that the bare name refers to. */
  default: string;
  variants: string[];
  /** The score that counts as solved. */
  threshold: number | null;
  /** The best possible score, if it is known. */
  optimum: number | null;
  /** Page that describes the environment. */
  source: string;
  /** The best published score. */
  published: PublishedScore | null;
  /** Variant -> the result that is shipped with gymnast; empty for the user's own presets. */
  results: Record<string, ResultSummary>;
}

/** The results of testing presets. */
export interface PresetsReport {
  /** Number of presets that passed. */
  passed: number;
  /** Number of presets that failed. */
  failed: number;
  /** Number of presets that were skipped because a package is missing. */
  skipped: number;
  /** The outcome of each preset. */
  presets: PresetOutcome[];
}

/** Rewards and observations under random actions. */
export interface ProbeResult {
  /** Mean steps of a copy between two informative rewards; None if there was none. */
  between: number | null;
  /** Number of env steps that were probed. */
  env_steps: number;
  /** Difference between copies, from 0 (the same observations) to 1 (independent). */
  diversity: number;
}

/** A prompt with all its placeholders filled. */
export interface Prompt {
  name: string;
  title: string;
  /** Ids of the runs that it is about, newest first. */
  runs: string[];
  /** The parts of the data about the runs, and what was cut from each. */
  parts: BundlePart[];
  /** Size of the text in characters. */
  chars: number;
  /** Markdown: instructions, then the data, of which every line starts with `>`. */
  text: string;
}

/** A text that a prompt may be given. */
export interface PromptArgument {
  name: string;
  description: string;
  /** The text that is used if none is given. */
  default: string;
}

/** A prompt that can be filled with the data of runs. */
export interface PromptInfo {
  /** Its name, such as `debug`: that of its file. */
  name: string;
  title: string;
  /** The task that it gives to an assistant, in one sentence. */
  description: string;
  /** How many runs it may be about: 1, or several. Without runs, it is about the last ones. */
  max_runs: number;
  /** Texts besides the runs; all of them are optional. */
  arguments: PromptArgument[];
}

/** A score that someone else has published. */
export interface PublishedScore {
  score: number;
  algorithm: string;
  source: string;
}

/** The rating of a role at every evaluation, on the Elo scale: scripted:medium is 1000. */
export interface RatingCurve {
  role: string;
  /** Positions of the versions that were evaluated, on the clock of the record. */
  x: number[];
  rating: number[];
  /** Lower ends of the 95 % intervals. */
  low: number[];
  /** Upper ends of the intervals. */
  high: number[];
}

/** The ratings of all entrants. */
export interface RatingTable {
  /** Ratings of the entrants of the first role, then of the second, each in natural order. */
  entrants: EntrantRating[];
  /** Points by which the game favors a role; None if this was not estimated. */
  advantage: EntrantRating | null;
}

/** The metrics of the trajectories of one kind and policy version. */
export interface RebuiltEvaluation {
  /** Id of the run. */
  run: string;
  /** Kind of the episodes. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Number of trajectories. */
  episodes: number;
  /** Whether these are all episodes of the evaluation; None if nothing was recorded about it. */
  stored_all: boolean | null;
  /** A sentence about episodes that are missing; empty if none are known to be. */
  note: string;
  /** The metrics, by name. */
  metrics: RebuiltMetric[];
}

/** A metric that was computed from trajectories. */
export interface RebuiltMetric {
  /** Its name as in the rows of a run, such as `eval/hider:match/win_rate`. */
  name: string;
  /** The value from the trajectories. */
  value: number;
  /** The value that training recorded for the same evaluation; None if there is none. */
  recorded: number | null;
  /** Whether both values are equal; None if they cannot be compared. */
  equal: boolean | null;
}

/** A run that is deleted, or would be. */
export interface RemovableRun {
  id: string;
  name: string;
  preset: string;
  status: string;
  /** Time of its creation, in seconds since the epoch. */
  created: number;
  path: string;
  /** Size of all of its files. */
  bytes: number;
  /** Ids of runs that started from it and are not deleted. */
  children: string[];
  /** Files in its directory that gymnast did not write; they are deleted too. */
  foreign_files: string[];
}

/** The runs that are deleted, or would be. */
export interface Removal {
  /** False if nothing was deleted: a dry run, or no run to delete. */
  deleted: boolean;
  runs: RemovableRun[];
  /** Size of all of these runs. */
  bytes: number;
  /** Run id -> why it is kept, for runs that match the conditions of `prune`. */
  kept: Record<string, "running" | "tagged" | "best" | "parent" | "newest" | "foreign">;
}

/** A study that was deleted, or would be. */
export interface RemovedSweep {
  name: string;
  deleted: boolean;
  /** Ids of the runs that were deleted with it. */
  runs: string[];
  /** Size of these runs. */
  bytes: number;
}

/** The result of replaying the seed and the actions of an episode. */
export interface ReplayInfo {
  /** True if every reward and the end are as stored, bit for bit. */
  exact: boolean;
  /** Number of the first step that differs; frames and replayed observations end there. None: no step. */
  mismatch: number | null;
  /** The reason why the replay is not exact; empty if it is. */
  note: string;
}

export interface Report {
  /** Id of the run. */
  run: string;
  /** All files that were written, pictures included. */
  files: string[];
}

/** The stored result of one variant of a preset. */
export interface ResultSummary {
  /** Mean score over seeds. */
  mean: number;
  /** Lower end of its 95 % confidence interval; None for one seed. */
  low: number | null;
  high: number | null;
  /** Number of seeds that were solved. */
  solved: number;
  seeds: number;
  /** Median over seeds. */
  env_steps: number;
  /** Median over seeds. */
  seconds: number;
  date: string;
}

/** A bundle about a run, and what the command that read it answered. */
export interface Review {
  /** Ids sort by time. */
  id: string;
  /** Id of the run. */
  run: string;
  /** Seconds since the epoch. */
  created: number;
  /** Env steps of the checkpoint or of the policy that played the episode; None if none was named. */
  checkpoint: number | null;
  /** The episode that the review is about; None if it is about the run. */
  episode: EpisodeInfo | null;
  /** Name of the command in the settings file; empty if the bundle was only written to a file. */
  command: string;
  /** Time that the command took. */
  seconds: number;
  /** The parts of the bundle. */
  parts: BundlePart[];
  /** The file with the bundle; empty if it was not stored, because another program made the run. */
  bundle: string;
  /** The output of the command as plain text: written by a program, and not checked by anyone. */
  answer: string;
  /** A sentence about what is missing of the answer; empty if it is complete. */
  cut: string;
}

/** The contents of a review that has not been made: nothing has been sent or written. */
export interface ReviewContents {
  /** Id of the run. */
  run: string;
  /** Env steps of the checkpoint that the reference names, or of the policy of the episode; None if neither is named. */
  checkpoint: number | null;
  /** The episode that the review is about, if it is about one. */
  episode: EpisodeInfo | null;
  /** The parts of the bundle, in order. */
  parts: BundlePart[];
  /** Size of the bundle in characters. */
  chars: number;
  /** The steps of the episode whose frames are passed, as files or inside of the bundle. */
  frames: number[];
  /** Name of the configured command that would receive it; empty if it would be written to a file. */
  command: string;
  /** Names of all configured commands, the default first. */
  commands: string[];
}

/** The stored reviews of a run. */
export interface ReviewList {
  /** Id of the run. */
  run: string;
  /** The reviews, newest first. */
  reviews: Review[];
  /** Names of the commands in the settings file, the default first. */
  commands: string[];
  /** The reason why the settings file or a review cannot be read; empty if all of them can. */
  problem: string;
}

/** A number over time, from the side of a role. */
export interface RoleCurve {
  /** The role; empty for the outcomes and lengths of training matches, which all roles share. */
  role: string;
  /** The opponent of a win rate, or the outcome; for returns and lengths `training` or `evaluation`. */
  label: string;
  x: number[];
  /** Returns, lengths in steps, or shares, 0..1. Matches with an unknown outcome count for no side; their share is an outcome of its own. */
  y: number[];
  /** Lower ends of the 95 % intervals; empty if there are none. */
  low: number[];
  /** Upper ends of the intervals. */
  high: number[];
}

/** The network of one role. */
export interface RoleNetwork {
  /** The distance of the policy from a uniform one. */
  start: UniformityReport;
  /** The layers of shared part, actor and critic. */
  layers: LayerReport[];
  /** The parameters with their gradients. */
  parameters: ParameterReport[];
  /** Number of parameters in total. */
  n_parameters: number;
  /** Size of all parameters. */
  bytes: number;
  /** False if the algorithm takes no gradient step on the batch. */
  has_gradient: boolean;
}

/** The result of training one role of a run. Every number is of a window of recent episodes, never of all since the start. */
export interface RoleOverview {
  /** The role; empty for a single agent. */
  role: string;
  /** Mean return of the last window of training episodes (`episode/return`). */
  final_return: number | null;
  /** Highest mean return of a full window of training episodes. */
  best_return: number | null;
  /** Mean return of the last evaluation; None without evaluations. Those of its parent do not count for a branch. */
  final_eval_return: number | null;
  /** Highest mean return of these evaluations. */
  best_eval_return: number | null;
  /** Share of the last window of training matches that the role won; matches with an unknown outcome count for nobody. None for a single agent. */
  rolling_win_rate: number | null;
  /** Lower end of its 95 % interval. */
  rolling_win_low: number | null;
  /** Upper end of its 95 % interval. */
  rolling_win_high: number | null;
  /** Share of the matches of the last evaluation that the role won. */
  eval_win_rate: number | null;
  /** Lower end of its 95 % interval. */
  eval_win_low: number | null;
  /** Upper end of its 95 % interval. */
  eval_win_high: number | null;
}

/** The results of one role in the matches of a cast. */
export interface RoleScore {
  /** The player: learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT]. */
  plays: string;
  /** Mean return per match, averaged over the role's agents. */
  mean_return: number;
  /** Share of the matches that it won, draws counted as half; None if matches have no outcome. */
  win_rate: number | null;
  /** Lower end of the 95 % interval of the win rate. */
  low: number | null;
  /** Upper end of the interval. */
  high: number | null;
}

/** Everything about one run. */
export interface RunDetails {
  id: string;
  path: string;
  /** running, paused, stalled, finished, stopped, failed, lost (its process died) or unreadable. */
  status: string;
  /** Seconds since the epoch. */
  created: number;
  /** The reason why it cannot be read. */
  problem: string;
  name: string;
  preset: string;
  env: string;
  /** The variant of the preset; empty if it has none. */
  variant: string;
  algo: string;
  seed: number | null;
  /** The reason why training ended. */
  reason: string;
  /** None if there is no threshold. */
  solved: boolean | null;
  /** Whether the score is confirmed (`score.kind`). */
  confirmed: boolean;
  /** The score of its best version: confirmed on held-out seeds when training has ended, until then of the evaluation that selected the version. */
  score: RunScore | null;
  /** Highest mean return of an evaluation, or win rate of the worst role; the score if that is higher. The evaluations of its parent do not count for a branch. None without evaluations. */
  best_score: number | null;
  /** Score of the version that it started with: the untrained policy, received weights, or the parent of a branch; None without one. */
  start_score: RunScore | null;
  /** Reasons why the score may not show that the task was learned, one clause each. */
  doubts: string[];
  threshold: number | null;
  /** Env steps and mean return of at most 32 evaluations; the first, the last, the lowest and the highest are among them. */
  curve: [number, number][];
  /** Used share of the budget, 0..1; None without a budget. */
  progress: number | null;
  /** Estimated wall time until the budget is spent, at the speed and the time of `updated`; None unless the run is active. */
  remaining_seconds: number | null;
  /** Env steps per second: of the last half minute of training if the run is active, else of the whole run. */
  steps_per_second: number | null;
  /** Clock -> count: env_steps, vec_steps, updates, seconds, ...; empty before the first rollout. */
  clocks: Record<string, number>;
  /** None while the run is active, and without evaluations. */
  learning: Learning | null;
  /** Env steps of the best checkpoint. */
  best_step: number | null;
  latest_step: number | null;
  n_alerts: number;
  /** Id of the run whose weights it started from. */
  parent: string | null;
  /** Id of its group of seeds. */
  group: string | null;
  /** The group of seeds in words: its name, or the preset and the id of a group without a name; empty without a group. */
  group_name: string;
  tags: string[];
  note: string;
  host: string;
  updated: number;
  /** Disk space; None unless sizes were asked for. */
  bytes: number | null;
  /** How often a process has trained it. */
  attempts: number;
  engine: string;
  /** Commit of gymnast's code; empty if it is unknown. */
  revision: string;
  /** Package -> version that was installed. */
  versions: Record<string, string>;
  /** CPU model. */
  cpu: string;
  parent_step: number | null;
  /** `branch`, or `weights` if only the weights of the parent were used. */
  parent_kind: string | null;
  /** Settings changed during training: dotted key -> value. */
  live: Record<string, unknown>;
  /** The resolved config as nested values. */
  config: Record<string, unknown>;
  /** Dotted config key -> where its value came from. */
  provenance: Record<string, string>;
  events: RunEvent[];
  evaluations: EvaluationPoint[];
  alerts: Alert[];
  checkpoints: Checkpoints;
  /** The checkpoint that the reference names, if it names one. */
  checkpoint: CheckpointInfo | null;
  videos: StoredFilm[];
  /** The manifest of the bundle that it was read or unpacked from; None for a run of this machine. */
  bundle: BundleManifest | null;
}

/** Something that happened to a run: an evaluation, a live change, a checkpoint, the end. */
export interface RunEvent {
  kind: string;
  /** Seconds since the epoch. */
  time: number | null;
  env_steps: number | null;
  rollouts: number | null;
  /** Its fields as one line. */
  text: string;
  /** All fields that only some kinds of events have. */
  detail: Record<string, unknown>;
}

/** The tags and the note of a run. */
export interface RunLabels {
  id: string;
  tags: string[];
  note: string;
}

export interface RunOutcome {
  kind: "solved" | "learned" | "doubtful" | "unconfirmed" | "failed" | "unknown" | "early";
  /** The measured result, as a clause. */
  text: string;
}

/** A part of the list of runs. */
export interface RunPage {
  /** Newest first. */
  runs: RunSummary[];
  /** Number of runs that match the filter. */
  total: number;
  /** The runs directory. */
  directory: string;
  /** Pass it as `after` to get the runs that follow; None if there are none. */
  cursor: string | null;
}

/** Mean raw return of the best version of a policy, or win rate of the worst role, with its 95 % confidence interval. */
export interface RunScore {
  mean: number;
  /** Lower end of the interval, within the possible range of the return; -inf for a single episode. */
  low: number;
  high: number;
  episodes: number;
  iqm: number | null;
  /** Version: env steps of the policy that was evaluated. */
  env_steps: number | null;
  /** The role that the score is about, in a run with several roles. */
  role: string;
  /** Number of episodes that were planned, if some are missing. */
  planned: number | null;
  /** The reason why they are missing, as a clause. */
  missing: string;
  /** confirmed: measured on held-out seeds, after training. evaluated: the best evaluation of training. */
  kind: "confirmed" | "evaluated";
  /** True if the episodes are all that there are, so that the mean has no sampling error. */
  exact: boolean;
  /** The reason why it is not comparable with confirmed scores: unconfirmed, too few episodes, or both. Empty if it is. */
  caveat: string;
  /** Sort key, the highest is the best: comparability (2: confirmed over enough episodes, 1: unconfirmed, 0: too few episodes), lower bound (of a single episode, its return), mean. Also where the lowest scores come first, those of higher comparability do. */
  rank: [number, number, number];
}

/** The status of a run or a job. */
export interface RunStatus {
  id: string;
  /** queued or starting (a job that does not train yet), running, paused, stalled, or how it ended: finished, stopped, failed, lost. */
  status: string;
  /** The reason for the status; empty if there is none. */
  reason: string;
  /** Directory of the run. */
  path: string;
}

/** One run of a list. If its run.json cannot be read, only `id`, `path`, `created` and `problem` are known. */
export interface RunSummary {
  id: string;
  path: string;
  /** running, paused, stalled, finished, stopped, failed, lost (its process died) or unreadable. */
  status: string;
  /** Seconds since the epoch. */
  created: number;
  /** The reason why it cannot be read. */
  problem: string;
  name: string;
  preset: string;
  env: string;
  /** The variant of the preset; empty if it has none. */
  variant: string;
  algo: string;
  seed: number | null;
  /** The reason why training ended. */
  reason: string;
  /** None if there is no threshold. */
  solved: boolean | null;
  /** Whether the score is confirmed (`score.kind`). */
  confirmed: boolean;
  /** The score of its best version: confirmed on held-out seeds when training has ended, until then of the evaluation that selected the version. */
  score: RunScore | null;
  /** Highest mean return of an evaluation, or win rate of the worst role; the score if that is higher. The evaluations of its parent do not count for a branch. None without evaluations. */
  best_score: number | null;
  /** Score of the version that it started with: the untrained policy, received weights, or the parent of a branch; None without one. */
  start_score: RunScore | null;
  /** Reasons why the score may not show that the task was learned, one clause each. */
  doubts: string[];
  threshold: number | null;
  /** Env steps and mean return of at most 32 evaluations; the first, the last, the lowest and the highest are among them. */
  curve: [number, number][];
  /** Used share of the budget, 0..1; None without a budget. */
  progress: number | null;
  /** Estimated wall time until the budget is spent, at the speed and the time of `updated`; None unless the run is active. */
  remaining_seconds: number | null;
  /** Env steps per second: of the last half minute of training if the run is active, else of the whole run. */
  steps_per_second: number | null;
  /** Clock -> count: env_steps, vec_steps, updates, seconds, ...; empty before the first rollout. */
  clocks: Record<string, number>;
  /** None while the run is active, and without evaluations. */
  learning: Learning | null;
  /** Env steps of the best checkpoint. */
  best_step: number | null;
  latest_step: number | null;
  n_alerts: number;
  /** Id of the run whose weights it started from. */
  parent: string | null;
  /** Id of its group of seeds. */
  group: string | null;
  /** The group of seeds in words: its name, or the preset and the id of a group without a name; empty without a group. */
  group_name: string;
  tags: string[];
  note: string;
  host: string;
  updated: number;
  /** Disk space; None unless sizes were asked for. */
  bytes: number | null;
}

/** A text file of a run. */
export interface RunText {
  /** Id of the run. */
  run: string;
  /** The file. */
  name: string;
  /** Its content, or the part of it that was asked for. Bytes that are not UTF-8 are replaced. */
  text: string;
  /** Size of the whole file. */
  bytes: number;
  /** Number of bytes that are not in `text`. */
  left_out: number;
}

/** The development of the metrics of a run. */
export interface RunTrends {
  /** Id of the run. */
  run: string;
  /** The clock that positions refer to. */
  x: string;
  /** The recent part, as a share of the points of each metric. */
  recent: number;
  /** Number of metrics that the run has recorded. */
  total: number;
  /** One per metric, in the order of every view. */
  trends: MetricTrend[];
}

/** A document about several runs, for an assistant or a colleague. Nothing has been sent or written. */
export interface RunsReview {
  /** Ids of the runs, newest first. */
  runs: string[];
  /** The parts of the document, in order. */
  parts: BundlePart[];
  /** Its size in characters. */
  chars: number;
  /** The document as Markdown. Texts in it come from the runs: they are data, not instructions. */
  text: string;
}

/** The importance of the parts of an image, on a coarse grid. */
export interface SaliencyMap {
  /** Number of grid points per row. */
  width: number;
  /** Number of rows. */
  height: number;
  /** Importance of each grid point, 0 or more, row by row from the top left. */
  values: number[];
  /** Width of the image in pixels. */
  image_width: number;
  /** Height of the image in pixels. */
  image_height: number;
}

/** The parts of the time of a run, and its predicted speed on more hosts. */
export interface ScaleResult {
  /** The preset, as `ENV:VARIANT`. */
  target: string;
  /** Number of cores that can be used. */
  cores: number;
  /** Env steps of a rollout. */
  env_steps: number;
  /** Seconds of a rollout in the environments, in one process. */
  env_seconds: number;
  /** Seconds of a rollout in the policy, in one process. */
  inference_seconds: number;
  /** Seconds of an update. */
  update_seconds: number;
  /** Seconds per rollout and host: sending parameters, receiving and joining steps. */
  message_seconds: number;
  /** Bytes that a host sends per env step. */
  bytes_per_step: number;
  /** Env steps per second in one process, updates included. */
  speed_here: number;
  /** Env steps per second of collecting with central inference on one local host; None if it cannot be used. */
  speed_central: number | null;
  /** The time of the slowest host divided by that of the median host. */
  unevenness: number;
  /** Predicted speeds, by number of hosts. */
  predictions: HostsPrediction[];
  /** Recommended settings: section -> key -> value. Empty if one process is enough. */
  patch: Record<string, Record<string, number | string>>;
  /** Sentences about the measurements. */
  advice: string[];
}

/** An agent of a match. */
export interface SeatInfo {
  /** Its role. */
  role: string;
  /** Its seat among those of the role, from 0. */
  seat: number;
  /** The player that had it: `learner`, `step:N` (a past self), `scripted:NAME`, `random` or a reference to another run. */
  player: string;
  /** Whether its policy is stored, so that it has probabilities and values. */
  has_policy: boolean;
  /** Number of steps until it was out of the match. */
  length: number;
  /** Sum of its rewards. */
  raw_return: number;
  /** `terminated` or `truncated`; empty if the replay does not show it. */
  outcome: string;
}

/** Metrics as means over the seeds of groups. */
export interface SeedCurves {
  /** The clock that the x values count. */
  x: string;
  /** One per reference, in the same order. */
  groups: SeedGroup[];
}

/** The metrics of one group of seeds. */
export interface SeedGroup {
  /** The name of the group as the user gave it, or the id of the run. */
  name: string;
  /** Ids of the runs. */
  runs: string[];
  /** One per metric that a run of the group recorded. */
  series: SeedSeries[];
}

/** One seed of a trial. */
export interface SeedRecord {
  /** Root seed of its run. */
  seed: number;
  /** Id of its run; empty while it waits for its turn. */
  run: string;
  /** Name of its run. */
  name: string;
  /** training, reached (its rung), finished, pruned or failed. */
  state: string;
  env_steps: number;
  /** The objective at the rung that its trial has reached; None without a result. */
  value: number | null;
  /** The reason of a failure. */
  problem: string;
  /** Its evaluation curve, env steps and mean return; empty unless curves were asked for. */
  points: [number, number][];
}

/** One run of a group. */
export interface SeedScore {
  seed: number | null;
  id: string;
  status: string;
  score: RunScore | null;
}

/** The mean of one metric over the seeds of a group, over the range that all seeds cover. */
export interface SeedSeries {
  /** The metric, with its scopes. */
  key: string;
  /** Positions on the clock. */
  x: number[];
  /** Mean over seeds at every x. */
  mean: number[];
  /** Lower end of the 95 % interval of the mean over seeds at every x; None for a single seed. */
  low: (number | null)[];
  /** Upper end of the interval. */
  high: (number | null)[];
  /** Number of seeds at every x; a seed that did not record the metric is left out. */
  n: number[];
}

/** The development of the roles of a self-play run. */
export interface SelfPlay {
  /** Id of the run. */
  run: string;
  /** The clock that the x values count. */
  x: string;
  roles: string[];
  /** Mean returns per match, in training and in evaluations. */
  returns: RoleCurve[];
  /** Ratings from the evaluations against scripted opponents; empty if the environment has none. */
  ratings: RatingCurve[];
  /** Win rates against each kind of opponent. */
  win_rates: RoleCurve[];
  /** Shares of the outcomes; those of a role and those of training each add up to 1. */
  outcomes: RoleCurve[];
  /** Mean lengths of matches, in training and in evaluations. */
  lengths: RoleCurve[];
  durations: DurationHistogram[];
  /** The cross-play matrix, if it was played (`gymnast league RUN --matrix`). */
  matrix: CrossPlayReport | null;
  /** Ratings of all players, from the evaluations up to the last checkpoint. */
  players: RatingTable;
}

/** A setting that a command has changed. */
export interface SettingChange {
  key: string;
  before: unknown;
  after: unknown;
}

export interface SettingDifference {
  key: string;
  /** The value of each run or, if groups are compared, of each group. */
  values: (boolean | number | string | null)[];
}

/** Every setting of a run, a preset or an environment. */
export interface Settings {
  /** The run or preset, with a note about where the defaults come from. */
  name: string;
  /** Nested plain values. */
  config: Record<string, unknown>;
  /** Dotted key -> plain value. */
  values: Record<string, unknown>;
  /** Dotted key -> where its value came from; keys with the default value may be missing. */
  provenance: Record<string, string>;
}

/** All settings of a target, with the valid ones of the overrides applied. */
export interface SettingsForm {
  /** `ENV:variant`, in full. */
  target: string;
  /** The target, with a note if there is no preset for it. */
  title: string;
  /** The algorithms to choose from. */
  algorithms: string[];
  /** Every setting is in one of them. A mapping with names of the user's choice is a field of its own, and each of its entries is a field or a section. */
  sections: FormSection[];
  /** The mistakes in the overrides, with the messages of `--set`. */
  problems: ConfigProblem[];
  /** Keys of overrides that are no settings. */
  unknown: string[];
  /** Whether further defaults are chosen by the environment's spaces when it is trained. */
  space_defaults: boolean;
}

/** The total of one shaping term per episode, with its weight. */
export interface ShapingTotal {
  /** Empty if there is only one agent. */
  role: string;
  /** Name of the shaping term. */
  term: string;
  /** Total in the first row. */
  first: number;
  /** Median over the last quarter of the rows. */
  last: number;
  /** Median over all rows. */
  usual: number;
  /** The total with the largest absolute value. */
  most: number;
  /** Lowest and highest raw return of an episode in the run. */
  raw: [number, number];
  /** Whether the term is potential-based. */
  potential: boolean;
  /** The larger absolute value of `last` and `usual`, divided by the range of raw returns, or by their absolute value if they were all equal; None if all were 0. */
  share: number | null;
  /** `outweighs` if the share is above 1, unless the term is a potential. */
  verdict: "sound" | "farmable" | "outweighs" | "potential" | "unknown";
}

/** A stored episode or match that has no trajectory. */
export interface SkippedEpisode {
  /** Its kind: train, eval, confirm, fresh or played. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Its number. */
  number: number;
  /** The reason: its replay differed from what was stored, or failed. */
  why: string;
}

/** A run that `--skip-broken` left out. */
export interface SkippedRun {
  /** Id of the run, or the file as the user typed it. */
  run: string;
  /** The file with the problem. */
  at: string;
  problem: string;
  fix: string;
}

/** A column that a chart was drawn from. */
export interface SourceColumn {
  /** The file, relative to the runs directory or as the user typed it. */
  file: string;
  /** Name of the column in the monitor: `seeker:policy/kl`. */
  column: string;
}

/** The defaults for the observation and action spaces of an environment. */
export interface SpaceSettings {
  /** The environment, as `ENV[:VARIANT]`, with its version. */
  target: string;
  /** The environment as the user wrote it. */
  requested_env: string;
  /** Section -> key -> value. A preset has precedence over them. */
  settings: Record<string, Record<string, unknown>>;
}

/** A search space in YAML. */
export interface SpaceText {
  /** `ENV[:variant]` that it is for. */
  target: string;
  text: string;
}

/** The speed of one backend with one number of copies. */
export interface SpeedSample {
  /** Name of the backend. */
  backend: string;
  /** Number of environment copies. */
  n_envs: number;
  /** Env steps per second of wall-clock time. */
  per_second: number;
  /** Env steps per CPU second of this process and its workers. */
  per_cpu_second: number;
  /** Fraction of the time spent in the environments; the rest is inference. */
  env_share: number;
  /** Whether a resumed run continues its unfinished episodes, however long they are. */
  restores: boolean;
  /** Duration of the measurement. */
  seconds: number;
  /** Relative standard error of the speed. */
  error: number;
  /** Reason why this backend cannot be used; empty if it can. */
  refused: string;
}

/** A run that trains in the background, now or when its turn comes. */
export interface StartedRun {
  id: string;
  status: "started" | "queued";
  /** The process that trains it; None if that is not on this machine. */
  pid: number | null;
  /** Directory of the run. */
  path: string;
  name: string;
  seed: number | null;
  group: string | null;
  /** The provider that it was submitted to; empty: this machine. */
  on: string;
}

/** The runs that were started in the background. */
export interface StartedRuns {
  /** Id of their group of seeds; None for a single run. */
  group: string | null;
  runs: StartedRun[];
}

/** A study that runs in the background. */
export interface StartedSweep {
  name: string;
  path: string;
  pid: number;
  /** Its plan; None for a resumed one. */
  plan: SweepPlan | null;
  /** Commands that show and stop it. */
  commands: string[];
}

/** A part of the steps of an episode, column by column. */
export interface StepPage {
  /** Id of the run. */
  run: string;
  /** Name -> values, one per step, of the columns that `inspect` describes; None where a number is not known. */
  columns: Record<string, (boolean | number | string | null)[]>;
  /** Index of the first step. */
  start: number;
  /** Number of steps of the episode. */
  total: number;
}

/** The result of one step. */
export interface StepReport {
  name: string;
  /** The claim that the step checks, in words. */
  title: string;
  state: "waiting" | "passed" | "findings" | "failed" | "skipped" | "interrupted";
  /** The result in one sentence; if the step was not run, the reason. */
  summary: string;
  /** Wall time. */
  seconds: number;
  /** Findings; those about jobs that could not be completed are at the end. */
  findings: NightlyFinding[];
  /** Other sentences about the result, such as what was left out. */
  notes: string[];
  /** Whether it left something out that it should have checked, for lack of time or of a package. */
  partial: boolean;
}

/** A video of a stored episode or match. Without a description next to it, only `path` is known. */
export interface StoredFilm {
  path: string;
  /** Whether it shows the best checkpoint. */
  is_best: boolean;
  /** The kind of the stored episode, as in `EpisodeInfo`. */
  kind: string;
  /** Env steps of the policy. */
  version: number | null;
  /** Index of the episode or match in its file. */
  episode: number | null;
  seed: number | null;
  length: number | null;
  /** None for a match. */
  raw_return: number | null;
  /** Role -> mean return, of a match. */
  returns: Record<string, number>;
  /** Role -> the policy or player that had it, in a match. */
  cast: Record<string, string>;
  outcome: string;
  /** Whether the replay was exactly as stored. */
  exact: boolean;
  /** How it differs, if it does. */
  note: string;
  created: number | null;
}

/** All plots of a study. */
export interface StudyPlots {
  study: string;
  /** The kind of the values: area, score, threshold or cost. */
  objective: string;
  parameters: PlottedParameter[];
  /** All trials, by number. */
  trials: PlottedTrial[];
  /** Number of the best complete trial, without the baseline. */
  best: number | null;
  /** The curves of the best trial and of the baseline; empty before the first evaluation. */
  curves: PlottedCurve[];
  /** How much each parameter matters; None if that is unknown. */
  importance: SweepImportance | null;
  /** The reason why the importance is unknown; empty if it is known. */
  note: string;
  /** All plots as a PNG file in base64; empty unless the picture was asked for. */
  png: string;
}

/** A change between neighboring points. */
export interface SuddenChange {
  /** Position of the first point after it. */
  at: number;
  /** Mean of the points before it. */
  before: number;
  /** Mean of the points after it. */
  after: number;
  exceeds_noise: boolean;
  /** Whether the last points of the run are still closer to `after` than to `before`. */
  lasted: boolean;
}

/** The importance of each parameter of a study, and how certain it is. */
export interface SweepImportance {
  study: string;
  /** Number of trials that the estimate uses. */
  trials: number;
  /** The most important first. */
  parameters: ParameterImportance[];
  /** The reason why the estimate is unreliable; empty if there is none. */
  caution: string;
}

/** A search that could be started. Nothing has been written. */
export interface SweepPlan {
  target: string;
  /** Number of trials, the baseline included. */
  trials: number;
  rungs: number[];
  parameters: string[];
  /** Number of different assignments; None if there are infinitely many. */
  assignments: number | null;
  /** Estimated env steps of the search. */
  env_steps: number;
  /** Env steps of the confirmation. */
  confirm_env_steps: number;
  /** Estimated wall time of both, from the measured speed of the first updates. */
  minutes: number;
  /** Estimated disk space while the search runs. */
  bytes: number;
  /** Free disk space. */
  free_bytes: number;
  jobs: number;
  /** One sentence each. */
  warnings: string[];
}

/** A study with all of its trials. */
export interface SweepStatus {
  summary: SweepSummary;
  /** The number by which trials are judged: area, score, threshold or cost. */
  objective: string;
  /** Env steps at which trials are compared. */
  rungs: number[];
  parameters: ParameterRecord[];
  /** All trials, by number. */
  trials: TrialRecord[];
}

/** A study in a list. */
export interface SweepSummary {
  name: string;
  path: string;
  /** running: a process works on it; interrupted: it can be resumed; finished: it is over. */
  status: "running" | "interrupted" | "finished";
  /** The reason why it is over, or the error that interrupted it; empty otherwise. */
  reason: string;
  /** `ENV[:variant]` that its trials train. */
  target: string;
  /** search or pbt. */
  mode: string;
  sampler: string;
  /** Time of its start, in seconds since the epoch. */
  created: number;
  /** Number of trials so far, the baseline included. */
  trials: number;
  /** Number of trials when it is over, the baseline included. */
  planned_trials: number;
  /** Pieces of work that are done: seeds trained to a rung. */
  units: number;
  /** Pieces of work under way. */
  running_units: number;
  /** Env steps of all of its runs, without the confirmation. */
  env_steps: number;
  /** Estimated env steps when it is over, without the confirmation. */
  planned_env_steps: number;
  /** Wall time so far. */
  seconds: number;
  /** Number of the best trial; None before the first result. */
  best: number | null;
  /** Estimated objective of the best trial, over many seeds. */
  best_value: number | null;
  /** The same of the target without changes; None in population-based training, where no member trains without changes for as long as the best one. */
  baseline_value: number | null;
  /** Whether its best trial was confirmed on fresh seeds. */
  confirmed: boolean;
  /** The failure of most of its trials, with a reason; empty if most have results. */
  problem: string;
}

/** A task, described. */
export interface TaskInfo {
  /** Id of the task in its process. */
  id: string;
  /** The work that it does, such as `check CartPole-v1`. */
  title: string;
  /** The state; a task has ended unless it is queued or running. */
  state: "queued" | "running" | "done" | "failed" | "cancelled" | "timed_out";
  /** The latest progress. */
  progress: TaskProgress;
  /** Unix time of its creation. */
  created: number;
  /** Unix time at which its process started; None while it is queued. */
  started: number | null;
  /** Unix time of its end; None before. */
  ended: number | null;
  /** Seconds after the start of its process at which it is stopped; None: no limit. */
  deadline: number | null;
  /** The reason why it has no result; None unless it ended without one. */
  failure: Failure | null;
}

/** The outcome of a task. */
export interface TaskOutcome {
  /** Id of the task. */
  id: string;
  /** The state of the task. */
  state: "queued" | "running" | "done" | "failed" | "cancelled" | "timed_out";
  /** The result in its JSON form; None unless the state is `done`. */
  result: unknown;
  /** The reason why there is no result; None unless the task ended without one. */
  failure: Failure | null;
}

/** The progress of a task. */
export interface TaskProgress {
  /** Amount of work that is done: steps, episodes, matches. It never decreases. */
  done: number;
  /** Amount of work in total; 0 if it is not known yet. */
  total: number;
  /** The latest part of the work, in words; may be empty. */
  text: string;
}

/** A term and the verdict on it. */
export interface TermFlag {
  /** Empty if there is only one agent. */
  role: string;
  /** Name of the term. */
  term: string;
  /** The verdict on it. */
  verdict: "sound" | "farmable" | "outweighs" | "potential" | "unknown";
}

/** Statistics of one term's total per match and agent. */
export interface TermTotal {
  /** Name of the reward term. */
  term: string;
  /** Mean over the matches. */
  mean: number;
  /** Standard deviation over the matches. */
  std: number;
  /** Mean absolute value of this term divided by the sum of those of all terms. */
  share: number;
  /** Mean over matches that the role won; None if it won none. */
  won: number | null;
  /** Mean over matches that another role won; None if there were none. */
  lost: number | null;
}

/** The runs that a request to train would start. Nothing has been written. */
export interface TrainingPlan {
  preflight: Preflight;
  /** The same as text: spaces, network, budget, settings that are not defaults, warnings, seeds. */
  text: string;
  /** One run is trained per seed. */
  seeds: number[];
  /** The name of each run; empty for runs without a name. */
  names: string[];
  /** Whether the runs are a group of seeds. */
  is_group: boolean;
  /** How many of them train at the same time. */
  jobs: number;
}

/** A file with trajectories of one kind and policy version. */
export interface TrajectoryFile {
  /** The file. */
  path: string;
  /** Id of the run. */
  run: string;
  /** Kind of its episodes. */
  kind: string;
  /** Env steps of the policy or, for training episodes, of the checkpoint. */
  version: number;
  /** Number of lines: episodes or matches. */
  episodes: number;
  /** Number of steps of all of them together. */
  steps: number;
  /** Whether its agents have positions, which path pictures need. */
  has_positions: boolean;
  /** True if it was written now, False if it was up to date or comes from elsewhere. */
  written: boolean;
}

/** Trajectory files of a run or a directory. */
export interface TrajectoryFiles {
  /** The directory that they are in. */
  directory: string;
  /** The files, by run, kind and version. */
  files: TrajectoryFile[];
  /** Episodes of the run without a trajectory. */
  skipped: SkippedEpisode[];
}

/** The films that were made from trajectories. */
export interface TrajectoryFilms {
  /** The directory of the films. */
  directory: string;
  /** The films. */
  films: Film[];
  /** Episodes of the run without a trajectory. */
  skipped: SkippedEpisode[];
}

/** Metrics that were rebuilt from trajectories alone. */
export interface TrajectoryMetrics {
  /** The directory of the trajectory files. */
  directory: string;
  /** One entry per run, kind and policy version. */
  evaluations: RebuiltEvaluation[];
  /** Episodes of the run without a trajectory. */
  skipped: SkippedEpisode[];
}

/** One trial of a study. */
export interface TrialRecord {
  number: number;
  /** Whether it is the target without changes. */
  is_baseline: boolean;
  /** Parameter -> value; empty for the baseline. */
  assignment: Record<string, unknown>;
  /** Config key -> value that this trial changes. */
  overrides: Record<string, unknown>;
  state: "training" | "waiting" | "complete" | "failed";
  /** Number of rungs that its first seed has reached. */
  rung: number;
  /** Place among all trials, from 1. */
  rank: number;
  /** Estimated objective over many seeds, at its rung. */
  value: number | null;
  /** Mean objective of its seeds, at its rung. */
  mean: number | null;
  /** Standard deviation of `value`; 0 below the last rung. */
  spread: number;
  seeds: SeedRecord[];
  /** Env steps of all of its runs. */
  env_steps: number;
  /** The reason why it failed. */
  problem: string;
  /** The trial whose checkpoint it started from, in population-based training. */
  source: number | null;
}

/** The measurements, the best of them, and the advice that follows. */
export interface TuningResult {
  /** The preset, as `ENV:VARIANT`. */
  target: string;
  /** Number of cores that can be used. */
  cores: number;
  /** All measurements. */
  samples: SpeedSample[];
  /** The best measurement; None if no backend can be used. */
  best: SpeedSample | null;
  /** Rewards and observations of the environment. */
  signal: ProbeResult;
  /** Settings of the best measurement: section -> key -> value. */
  patch: Record<string, Record<string, number | string>>;
  /** The same with rollouts that are long enough to contain rewards, which changes what is learned; empty if they are. */
  longer_rollouts: Record<string, Record<string, number | string>>;
  /** Sentences about the measurements. */
  advice: string[];
}

/** The distance of a policy from a uniform one on the first observations of episodes. */
export interface UniformityReport {
  /** True if it is close enough for an untrained policy; None if the actions are unbounded. */
  uniform: boolean | null;
  /** Mean entropy; None for Box actions. */
  entropy: number | null;
  /** Entropy of the uniform distribution; None for Box actions. */
  max_entropy: number | null;
  /** Largest distance of the mean from the center, as a share of the range; None unless the actions are a bounded Box. */
  off_center: number | null;
}

/** The line after another action at a step of an episode, continued with the policy. */
export interface Variation {
  /** The step at which the line leaves the episode. */
  step: number;
  /** The action that was forced at that step. */
  action: number | number[];
  /** Its name. */
  label: string;
  /** Number of steps for which it was to be held; a line that ends earlier has fewer. */
  hold: number;
  /** The columns of the episode's table, for the steps from `step` on. */
  table: Record<string, (boolean | number | string | null)[]>;
  /** Sum of the rewards of the whole line, those before `step` included; raw reward. */
  raw_return: number;
  /** Return of the episode as it was played; raw reward. */
  played_return: number;
  /** Whether the line reached the end of an episode, not only the horizon. */
  ended: boolean;
  /** The way in which the line ended. */
  outcome: "terminated" | "truncated" | "horizon";
  /** Time that computing the line took. */
  seconds: number;
}

/** The decision of a policy for an observation of an episode, before and after a change of it. */
export interface WhatIf {
  /** The decision for the observation of the episode. */
  original: Decision;
  /** The decision for the changed observation. */
  changed: Decision;
}

/** A bundle that was written. */
export interface WrittenBundle {
  /** The archive. */
  path: string;
  contents: BundleContents;
}

/** The files of a report. */
export interface WrittenMonitor {
  /** The directory. */
  out: string;
  /** The files in it: run_overview.csv, manifest.json and the pictures. */
  files: string[];
  overview: OverviewRow[];
  skipped: SkippedRun[];
}

/** Operation -> its result; that of the task, if it starts one. */
export interface Results {
  runs: RunPage;
  show: RunDetails;
  events: EventPage;
  run_file: RunText;
  rows: MetricRows;
  curves: MetricCurves;
  trends: RunTrends;
  rows_csv: string;
  logs: LogPage;
  episodes: EpisodePage;
  steps: StepPage;
  steps_csv: string;
  find_episode: EpisodeAddress;
  inspect: EpisodeInspection;
  branch: Variation;
  what_if: WhatIf;
  attribution: Attribution;
  obs_images: ObsImages;
  blunders: BlunderReport;
  stored_blunders: BlunderReport | null;
  roll_out: EpisodeInfo;
  play_start: PlayStart;
  play_step: PlayState;
  play_stop: PlayEnd;
  charts: ChartData[];
  chart: ChartPicture;
  compare: Comparison;
  seed_curves: SeedCurves;
  doctor: Diagnosis;
  monitor: MonitorReport;
  monitor_csv: string;
  write_monitor: WrittenMonitor;
  find: Found;
  docs: DocText;
  presets: PresetSummary[];
  metrics: MetricInfo[];
  config_show: Settings;
  config_check: ConfigCheck;
  config_diff: ConfigDifference[];
  settings_form: SettingsForm;
  report: Report;
  export: Export;
  config_fmt: FormattedFile[];
  tasks: TaskInfo[];
  task: TaskInfo;
  task_log: string;
  task_result: TaskOutcome;
  cancel_task: TaskInfo;
  eval: EvaluationReport;
  check: CheckReport;
  check_all: PresetsReport;
  net: NetworkReport;
  audit: AuditReport;
  video: FilmReport;
  tune_envs: TuningResult;
  tune_scale: ScaleResult;
  frames: FrameReport;
  trajectories: TrajectoryFiles;
  trajectory_metrics: TrajectoryMetrics;
  trajectory_paths: PathPictures;
  trajectory_replay: TrajectoryFilms;
  review_contents: ReviewContents;
  review_runs: RunsReview;
  reviews: ReviewList;
  review: Review;
  prompts: PromptInfo[];
  prompt: Prompt;
  nightly: NightlyReport;
  bundle_contents: BundleContents;
  bundle: WrittenBundle;
  league: LeagueRatings;
  self_play: SelfPlay;
  cross_play: CrossPlayReport;
  spaces: SpaceSettings;
  dry_run: TrainingPlan;
  train_command: string;
  start: StartedRuns;
  resume: StartedRun;
  jobs: JobStatus[];
  wait: RunStatus[];
  cancel: RunStatus;
  group: GroupResult;
  host_check: HostCheck;
  stop: CommandAnswer[];
  pause: CommandAnswer;
  unpause: CommandAnswer;
  checkpoint: CommandAnswer;
  set_live: CommandAnswer;
  evaluate_live: CommandAnswer;
  sweep_init: SpaceText;
  sweep_plan: SweepPlan;
  sweep_start: StartedSweep;
  sweep_list: SweepSummary[];
  sweep_status: SweepStatus;
  sweep_resume: StartedSweep;
  sweep_stop: SweepSummary;
  sweep_best: BestTrial;
  sweep_importance: SweepImportance;
  sweep_plots: StudyPlots;
  sweep_remove: RemovedSweep;
  tune_preset: StartedSweep;
  remove: Removal;
  prune: Removal;
  film_queue: FilmRequest[];
  clear_film_queue: FilmRequest[];
  tag: RunLabels;
  note: RunLabels;
  init: NewProject;
}

/** Operation -> its arguments. */
export interface Arguments {
  runs: { filter?: string; after?: string | null; limit?: number | null; sizes?: boolean };
  show: { ref?: string; verify?: boolean; sizes?: boolean };
  events: { ref?: string; after?: number; limit?: number | null };
  run_file: { ref?: string; file?: string; max_bytes?: number; end?: boolean };
  rows: { ref?: string; names?: string[]; last?: number | null; after?: number; limit?: number | null; around?: number | string | null };
  curves: { refs?: string[]; names?: string[]; x?: string; points?: number; low?: number | null; high?: number | null };
  trends: { ref?: string; names?: string[]; x?: string; recent?: number };
  rows_csv: { ref?: string; names?: string[]; last?: number | null; limit?: number | null; around?: number | string | null };
  logs: { ref?: string; after?: string; last?: number | null; max_bytes?: number };
  episodes: { ref?: string; kind?: string; version?: number | null; after?: string | null; limit?: number | null };
  steps: { ref: string; kind: "train" | "eval" | "confirm" | "fresh" | "played"; version: number; number: number; role?: string; seat?: number; columns?: string[]; start?: number; limit?: number | null };
  steps_csv: { ref: string; kind: "train" | "eval" | "confirm" | "fresh" | "played"; version: number; number: number; role?: string; seat?: number; columns?: string[] };
  find_episode: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; role?: string; seat?: number };
  inspect: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; role?: string; seat?: number };
  branch: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; step: number; action: number | number[]; hold?: number; horizon?: number | null; sampled?: boolean };
  what_if: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; step: number; changes?: Record<string, number> | null; blank?: number[] | null; role?: string; seat?: number };
  attribution: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; step: number; target?: "action" | "value"; role?: string; seat?: number };
  obs_images: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; step: number; role?: string; seat?: number };
  blunders: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; budget?: number | null; horizon?: number | null };
  stored_blunders: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null };
  roll_out: { ref?: string; seed?: number | null; sampled?: boolean; max_steps?: number | null; overrides?: Record<string, unknown> | string[] | null; roles?: Record<string, string> | null };
  play_start: { target?: string; seed?: number | null; role?: string; sampled?: boolean | null; overrides?: Record<string, unknown> | string[] | null; width?: number };
  play_step: { session: string; keys?: string[]; action?: number | number[] | null; steps?: number };
  play_stop: { session: string };
  charts: { ref?: string; x?: string };
  chart: { refs?: string[]; names?: string[]; chart?: string; format?: "png" | "text"; x?: string };
  compare: { refs: string[]; x?: string; env?: string };
  seed_curves: { refs: string[]; names: string[]; x?: string; points?: number };
  doctor: { ref?: string; env?: string; threshold?: number | null; column_map?: string | null };
  monitor: { approaches?: string[]; refs?: string[]; all_runs?: boolean; env?: string; smooth?: number; skip_broken?: boolean; files?: string[]; column_map?: string | null };
  monitor_csv: { approaches?: string[]; refs?: string[]; all_runs?: boolean; env?: string; skip_broken?: boolean; files?: string[]; column_map?: string | null };
  write_monitor: { approaches?: string[]; refs?: string[]; all_runs?: boolean; env?: string; smooth?: number; skip_broken?: boolean; files?: string[]; column_map?: string | null; out?: string | null; data?: string | null };
  find: { query?: string; kind?: "preset" | "environment" | "metric" | "setting" | "doc" | "run" | null; limit?: number; offset?: number };
  docs: { name?: string };
  presets: { search?: string };
  metrics: { name?: string };
  config_show: { name: string; overrides?: Record<string, unknown> | string[] };
  config_check: { targets?: string[] };
  config_diff: { a: string; b: string };
  settings_form: { target: string; algo?: string | null; overrides?: string[] };
  report: { ref?: string; formats?: string[]; out?: string | null; x?: string };
  export: { ref: string; export_format: string; out?: string | null };
  config_fmt: { files: string[]; check?: boolean };
  tasks: Record<string, never>;
  task: { id: string };
  task_log: { id: string };
  task_result: { id: string; timeout?: number };
  cancel_task: { id: string; timeout?: number };
  eval: { ref?: string; episodes?: number | null; seed?: number | null; sampled?: boolean; roles?: Record<string, string> | null };
  check: { target: string; steps?: number | null; seed?: number; overrides?: Record<string, unknown> | null; allow?: string[] };
  check_all: { targets?: string[]; steps?: number | null; seed?: number; allow?: string[] };
  net: { target: string; overrides?: Record<string, unknown> | null };
  audit: { ref?: string; episodes?: number };
  video: { ref?: string; episode?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; learning?: boolean; grid?: string | null; out?: string | null; fps?: number | null };
  tune_envs: { target: string; backends?: string[]; copies?: number[]; seconds?: number; overrides?: Record<string, unknown> | null };
  tune_scale: { target: string; seconds?: number; overrides?: Record<string, unknown> | null };
  frames: { ref?: string; episode?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; first?: number; last?: number | null; every?: number; overlay?: boolean; out?: string | null };
  trajectories: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; data?: string | null };
  trajectory_metrics: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; data?: string | null };
  trajectory_paths: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; number?: number | null; out?: string | null; data?: string | null };
  trajectory_replay: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; number?: number | null; out?: string | null; fps?: number | null; data?: string | null };
  review_contents: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; command?: string | null; budget?: number };
  review_runs: { refs?: string[]; last?: number | null; budget?: number };
  reviews: { ref?: string; id?: string };
  review: { ref?: string; kind?: "train" | "eval" | "confirm" | "fresh" | "played"; version?: number | null; number?: number | null; command?: string | null; confirm?: boolean; budget?: number; out?: string | null };
  prompts: Record<string, never>;
  prompt: { name: string; refs?: string[]; arguments?: Record<string, string> | null; budget?: number };
  nightly: { steps?: string[]; minutes?: number; seed?: number | null; dispatch?: string | null; strict?: boolean };
  bundle_contents: { ref?: string; checkpoint?: string | null; max_size?: number };
  bundle: { ref?: string; out?: string | null; checkpoint?: string | null; max_size?: number; force?: boolean };
  league: { ref?: string };
  self_play: { ref?: string; x?: string };
  cross_play: { ref?: string; episodes?: number; max_snapshots?: number };
  spaces: { target: string; overrides?: Record<string, unknown> | null; algo?: string | null };
  dry_run: { target: string; overrides?: Record<string, unknown> | string[] | null; algo?: string | null; seed?: number | null; seeds?: number | null; name?: string; source?: string | null; max_jobs?: number | null };
  train_command: { target: string; overrides?: Record<string, unknown> | string[]; algo?: string | null; seed?: number | null; seeds?: number | null; source?: string | null; name?: string; tags?: string[] };
  start: { target: string; overrides?: Record<string, unknown> | string[] | null; algo?: string | null; seed?: number | null; seeds?: number | null; source?: string | null; name?: string; tags?: string[]; max_jobs?: number | null; jobs_on?: string | null; requeue?: boolean };
  resume: { run: string; at?: string; overrides?: Record<string, unknown> | string[] | null; fresh_optimizer?: boolean; name?: string; tags?: string[]; max_jobs?: number | null; jobs_on?: string | null; requeue?: boolean };
  jobs: Record<string, never>;
  wait: { refs: string[]; timeout?: number | null };
  cancel: { ref: string };
  group: { ref: string };
  host_check: { provider: string; env?: string };
  stop: { ref: string; timeout?: number; by?: string };
  pause: { ref: string; timeout?: number; by?: string };
  unpause: { ref: string; timeout?: number; by?: string };
  checkpoint: { ref: string; timeout?: number; by?: string };
  set_live: { ref: string; assignments: Record<string, unknown> | string[]; timeout?: number; by?: string };
  evaluate_live: { ref: string; timeout?: number; by?: string };
  sweep_init: { target?: string; wandb?: string; file?: string };
  sweep_plan: { space: string; trials?: number | null; seeds?: number | null; confirm_seeds?: number | null; sampler?: string | null; proposer?: string | null; mode?: string | null; minutes?: number | null; run_minutes?: number | null; total_env_steps?: number | null; source?: string; jobs?: number };
  sweep_start: { space: string; name?: string; jobs_on?: string | null; trials?: number | null; seeds?: number | null; confirm_seeds?: number | null; sampler?: string | null; proposer?: string | null; mode?: string | null; minutes?: number | null; run_minutes?: number | null; total_env_steps?: number | null; source?: string; jobs?: number };
  sweep_list: Record<string, never>;
  sweep_status: { study: string; curves?: boolean };
  sweep_resume: { study: string; trials?: number | null; minutes?: number | null; jobs?: number | null };
  sweep_stop: { study: string };
  sweep_best: { study: string };
  sweep_importance: { study: string };
  sweep_plots: { study: string; picture?: boolean };
  sweep_remove: { study: string; with_runs?: boolean; dry_run?: boolean };
  tune_preset: { target: string; name?: string; jobs_on?: string | null; minutes?: number; overrides?: Record<string, unknown> | string[] | null; jobs?: number; seed?: number; objective?: "area" | "score" };
  remove: { refs: string[]; dry_run?: boolean };
  prune: { filter?: string; keep?: number; older?: string; status?: string[]; unsolved?: boolean; include?: ("tagged" | "best" | "parent" | "foreign")[]; dry_run?: boolean };
  film_queue: Record<string, never>;
  clear_film_queue: Record<string, never>;
  tag: { ref: string; tags?: string[]; remove?: boolean };
  note: { ref: string; text?: string | null };
  init: { name: string; directory?: string };
}

export type ReadOperation = "runs" | "show" | "events" | "run_file" | "rows" | "curves" | "trends" | "rows_csv" | "logs" | "episodes" | "steps" | "steps_csv" | "find_episode" | "inspect" | "branch" | "what_if" | "attribution" | "obs_images" | "stored_blunders" | "charts" | "chart" | "compare" | "seed_curves" | "doctor" | "monitor" | "monitor_csv" | "find" | "docs" | "presets" | "metrics" | "config_show" | "config_check" | "config_diff" | "settings_form" | "tasks" | "task" | "task_log" | "task_result" | "review_contents" | "review_runs" | "reviews" | "prompts" | "prompt" | "bundle_contents" | "league" | "self_play" | "dry_run" | "train_command" | "jobs" | "wait" | "group" | "host_check" | "sweep_init" | "sweep_plan" | "sweep_list" | "sweep_status" | "sweep_best" | "sweep_importance" | "sweep_plots" | "film_queue";
export type ChangeOperation = "play_start" | "play_step" | "play_stop" | "write_monitor" | "report" | "export" | "config_fmt" | "cancel_task" | "bundle" | "start" | "resume" | "cancel" | "stop" | "pause" | "unpause" | "checkpoint" | "set_live" | "evaluate_live" | "sweep_start" | "sweep_resume" | "sweep_stop" | "sweep_remove" | "tune_preset" | "remove" | "prune" | "clear_film_queue" | "tag" | "note" | "init";
export type TaskOperation = "blunders" | "roll_out" | "eval" | "check" | "check_all" | "net" | "audit" | "video" | "tune_envs" | "tune_scale" | "frames" | "trajectories" | "trajectory_metrics" | "trajectory_paths" | "trajectory_replay" | "review" | "nightly" | "cross_play" | "spaces";

/** Where numbers are in records: JSON has texts for those that are not finite. */
export const RECORD_SHAPES: Record<string, unknown> = {"Attribution":{"components":{"*":1},"image":"SaliencyMap","output":1,"baseline":1,"past":{"*":1}},"AuditReport":{"casts":["CastTotals"],"farming":"FarmingTest","shaping":["ShapingTotal"]},"BestTrial":{"trial":"TrialRecord","confirmation":"Confirmation","seconds":1},"Blunder":{"played":[1],"better":[1],"lost":1,"lost_raw":1,"error_raw":1},"BlunderReport":{"scale":1,"seconds":1,"thresholds":{"*":1},"marks":["Blunder"]},"CastTotals":{"roles":{"*":["TermTotal"]}},"ChartAlert":{"x":1,"until":1},"ChartCurve":{"first":1,"last":1},"ChartData":{"series":["ChartSeries"],"healthy":{"0":1,"1":1},"range":{"0":1,"1":1},"lines":["ChartLine"],"ticks":"ChartTicks","alerts":["ChartAlert"],"events":["ChartEvent"]},"ChartEvent":{"x":1},"ChartLine":{"y":1},"ChartPicture":{"curves":["ChartCurve"]},"ChartSeries":{"x":[1],"y":[1],"low":[1],"high":[1]},"ChartTicks":{"x":[1]},"CheckpointInfo":{"time":1},"Checkpoints":{"best":"CheckpointInfo","latest":"CheckpointInfo"},"CommandAnswer":{"score":"RunScore"},"ComparedGroup":{"score":"MeanInterval","iqm":"MeanInterval","best":"MeanInterval","area":"MeanInterval","steps_to_threshold":"MeanInterval","seconds_to_threshold":"MeanInterval","curve":"MeanCurve"},"ComparedPart":{"curves":["PartCurve"]},"ComparedRun":{"score":"RunScore","final":1,"best":1,"threshold":1,"clocks":{"*":1},"area":1,"learning":"Learning","threshold_at":1,"curve":"EvaluationCurve"},"Comparison":{"range":{"0":1,"1":1},"runs":["ComparedRun"],"groups":["ComparedGroup"],"improvements":["Improvement"],"parts":["ComparedPart"]},"Confirmation":{"trials":["ConfirmedTrial"],"difference":"MeanInterval","seconds":1},"ConfirmedTrial":{"values":[1],"value":"MeanInterval","scores":[1],"score":"MeanInterval"},"CrossPlayCell":{"rate":1,"low":1,"high":1},"CrossPlayReport":{"cells":[["CrossPlayCell"]]},"Decision":{"action":[1],"probabilities":[1],"mean":[1],"std":[1],"value":1,"value_raw":1},"Diagnosis":{"findings":["LikelyCause"]},"DurationHistogram":{"edges":[1]},"EntrantRating":{"rating":1,"error":1,"low":1,"high":1},"EpisodeInfo":{"raw_return":1,"returns":{"*":1},"numbers":{"*":1},"surprise":1},"EpisodeInspection":{"info":"EpisodeInfo","seats":["SeatInfo"],"observations":["ObsComponent"],"moments":["KeyMoment"],"fps":1,"keys":{"*":[1]}},"EpisodePage":{"episodes":["EpisodeInfo"]},"EvaluationCurve":{"x":[1],"y":[1]},"EvaluationPoint":{"env_steps":1,"mean_return":1,"low":1},"EvaluationReport":{"score":"PolicyScore","matches":["MatchScore"]},"EventPage":{"events":["RunEvent"]},"FarmedTerm":{"gain":"Interval","goal":"Interval","share":1,"low":1},"FarmingTest":{"threshold":1,"terms":["FarmedTerm"]},"Film":{"episode_return":1,"returns":{"*":1},"handicap":{"*":1},"clips":["FilmClip"],"fps":1,"created":1},"FilmClip":{"episode_return":1},"FilmReport":{"films":["Film"]},"FormField":{"low":1,"high":1},"FormSection":{"fields":["FormField"]},"GroupResult":{"scores":["SeedScore"],"mean":1,"iqm":1,"low":1,"high":1},"HostsPrediction":{"sync":1,"overlap":1},"Improvement":{"probability":1,"low":1,"high":1,"difference":"MeanInterval","measures":["MeasureDifference"]},"Interval":{"mean":1,"low":1,"high":1},"JobStatus":{"created":1},"KeyMoment":{"size":1},"LayerReport":{"mean":1,"std":1,"dead":1,"saturated":1},"LeagueRatings":{"ratings":"RatingTable"},"Learning":{"area":1,"unused":1,"mean_return":1,"seconds_to_threshold":1},"LikelyCause":{"weight":1},"MatchScore":{"roles":{"*":"RoleScore"},"numbers":{"*":1}},"MeanCurve":{"x":[1],"y":[1],"low":[1],"high":[1]},"MeanInterval":{"mean":1,"low":1,"high":1},"MeasureDifference":{"difference":"MeanInterval"},"MetricCurves":{"range":{"0":1,"1":1},"series":["MetricSeries"]},"MetricInfo":{"bounds":{"0":1,"1":1},"healthy":{"0":1,"1":1}},"MetricPoint":{"at":1,"value":1},"MetricRows":{"rows":[{"*":1}]},"MetricSeries":{"x":[1],"mean":[1],"low":[1],"high":[1]},"MetricTrend":{"first":"MetricPoint","last":"MetricPoint","lowest":"MetricPoint","highest":"MetricPoint","overall":"Movement","recent":"Movement","slope":1,"jump":"SuddenChange","collapse":"SuddenChange"},"MonitorChart":{"series":["MonitorSeries"]},"MonitorReport":{"overview":["OverviewRow"],"charts":["MonitorChart"]},"MonitorSeries":{"x":[1],"y":[1],"low":[1],"high":[1]},"Movement":{"change":1,"noise":1},"NetworkReport":{"roles":{"*":"RoleNetwork"}},"NightlyReport":{"seconds":1,"minutes":1,"steps":["StepReport"]},"ObsComponent":{"low":1,"high":1},"OverviewRow":{"roles":["RoleOverview"],"outcomes":{"*":1},"mean_length":1},"ParameterImportance":{"importance":1,"low":1,"high":1},"ParameterRecord":{"low":1,"high":1},"ParameterReport":{"norm":1,"gradient_norm":1,"gradient_max":1},"PartCurve":{"x":[1],"y":[1],"low":[1],"high":[1]},"PlayEnd":{"episode":"PlayedEpisode"},"PlayStart":{"fps":1,"state":"PlayState"},"PlayState":{"reward":1,"total":1,"episode":"PlayedEpisode"},"PlayedEpisode":{"info":"EpisodeInfo"},"PlottedCurve":{"curve":"MeanCurve"},"PlottedParameter":{"positions":[1]},"PlottedTrial":{"value":1,"seeds":[1],"best":1,"positions":[1]},"PolicyScore":{"mean":1,"low":1,"high":1,"iqm":1,"length":1,"threshold":1,"returns":[1],"numbers":{"*":[1]}},"Preflight":{"budget":{"*":1},"threshold":1},"PresetOutcome":{"seconds":1},"PresetSummary":{"threshold":1,"optimum":1,"published":"PublishedScore","results":{"*":"ResultSummary"}},"PresetsReport":{"presets":["PresetOutcome"]},"ProbeResult":{"between":1,"diversity":1},"PublishedScore":{"score":1},"RatingCurve":{"x":[1],"rating":[1],"low":[1],"high":[1]},"RatingTable":{"entrants":["EntrantRating"],"advantage":"EntrantRating"},"RebuiltEvaluation":{"metrics":["RebuiltMetric"]},"RebuiltMetric":{"value":1,"recorded":1},"RemovableRun":{"created":1},"Removal":{"runs":["RemovableRun"]},"ResultSummary":{"mean":1,"low":1,"high":1,"env_steps":1,"seconds":1},"Review":{"created":1,"episode":"EpisodeInfo","seconds":1},"ReviewContents":{"episode":"EpisodeInfo"},"ReviewList":{"reviews":["Review"]},"RoleCurve":{"x":[1],"y":[1],"low":[1],"high":[1]},"RoleNetwork":{"start":"UniformityReport","layers":["LayerReport"],"parameters":["ParameterReport"]},"RoleOverview":{"final_return":1,"best_return":1,"final_eval_return":1,"best_eval_return":1,"rolling_win_rate":1,"rolling_win_low":1,"rolling_win_high":1,"eval_win_rate":1,"eval_win_low":1,"eval_win_high":1},"RoleScore":{"mean_return":1,"win_rate":1,"low":1,"high":1},"RunDetails":{"created":1,"score":"RunScore","best_score":1,"start_score":"RunScore","threshold":1,"curve":[{"0":1,"1":1}],"progress":1,"remaining_seconds":1,"steps_per_second":1,"clocks":{"*":1},"learning":"Learning","updated":1,"events":["RunEvent"],"evaluations":["EvaluationPoint"],"checkpoints":"Checkpoints","checkpoint":"CheckpointInfo","videos":["StoredFilm"]},"RunEvent":{"time":1},"RunPage":{"runs":["RunSummary"]},"RunScore":{"mean":1,"low":1,"high":1,"iqm":1,"rank":{"1":1,"2":1}},"RunSummary":{"created":1,"score":"RunScore","best_score":1,"start_score":"RunScore","threshold":1,"curve":[{"0":1,"1":1}],"progress":1,"remaining_seconds":1,"steps_per_second":1,"clocks":{"*":1},"learning":"Learning","updated":1},"RunTrends":{"recent":1,"trends":["MetricTrend"]},"SaliencyMap":{"values":[1]},"ScaleResult":{"env_seconds":1,"inference_seconds":1,"update_seconds":1,"message_seconds":1,"bytes_per_step":1,"speed_here":1,"speed_central":1,"unevenness":1,"predictions":["HostsPrediction"]},"SeatInfo":{"raw_return":1},"SeedCurves":{"groups":["SeedGroup"]},"SeedGroup":{"series":["SeedSeries"]},"SeedRecord":{"value":1,"points":[{"0":1,"1":1}]},"SeedScore":{"score":"RunScore"},"SeedSeries":{"x":[1],"mean":[1],"low":[1],"high":[1]},"SelfPlay":{"returns":["RoleCurve"],"ratings":["RatingCurve"],"win_rates":["RoleCurve"],"outcomes":["RoleCurve"],"lengths":["RoleCurve"],"durations":["DurationHistogram"],"matrix":"CrossPlayReport","players":"RatingTable"},"SettingsForm":{"sections":["FormSection"]},"ShapingTotal":{"first":1,"last":1,"usual":1,"most":1,"raw":{"0":1,"1":1},"share":1},"SpeedSample":{"per_second":1,"per_cpu_second":1,"env_share":1,"seconds":1,"error":1},"StartedSweep":{"plan":"SweepPlan"},"StepReport":{"seconds":1},"StoredFilm":{"raw_return":1,"returns":{"*":1},"created":1},"StudyPlots":{"parameters":["PlottedParameter"],"trials":["PlottedTrial"],"curves":["PlottedCurve"],"importance":"SweepImportance"},"SuddenChange":{"at":1,"before":1,"after":1},"SweepImportance":{"parameters":["ParameterImportance"]},"SweepPlan":{"minutes":1},"SweepStatus":{"summary":"SweepSummary","parameters":["ParameterRecord"],"trials":["TrialRecord"]},"SweepSummary":{"created":1,"seconds":1,"best_value":1,"baseline_value":1},"TaskInfo":{"created":1,"started":1,"ended":1,"deadline":1},"TermTotal":{"mean":1,"std":1,"share":1,"won":1,"lost":1},"TrainingPlan":{"preflight":"Preflight"},"TrajectoryFilms":{"films":["Film"]},"TrajectoryMetrics":{"evaluations":["RebuiltEvaluation"]},"TrialRecord":{"value":1,"mean":1,"spread":1,"seeds":["SeedRecord"]},"TuningResult":{"samples":["SpeedSample"],"best":"SpeedSample","signal":"ProbeResult"},"UniformityReport":{"entropy":1,"max_entropy":1,"off_center":1},"Variation":{"action":[1],"raw_return":1,"played_return":1,"seconds":1},"WhatIf":{"original":"Decision","changed":"Decision"},"WrittenMonitor":{"overview":["OverviewRow"]}};
export const RESULT_SHAPES: Record<string, unknown> = {"runs":"RunPage","show":"RunDetails","events":"EventPage","run_file":null,"rows":"MetricRows","curves":"MetricCurves","trends":"RunTrends","rows_csv":null,"logs":null,"episodes":"EpisodePage","steps":null,"steps_csv":null,"find_episode":null,"inspect":"EpisodeInspection","branch":"Variation","what_if":"WhatIf","attribution":"Attribution","obs_images":null,"blunders":"BlunderReport","stored_blunders":"BlunderReport","roll_out":"EpisodeInfo","play_start":"PlayStart","play_step":"PlayState","play_stop":"PlayEnd","charts":["ChartData"],"chart":"ChartPicture","compare":"Comparison","seed_curves":"SeedCurves","doctor":"Diagnosis","monitor":"MonitorReport","monitor_csv":null,"write_monitor":"WrittenMonitor","find":null,"docs":null,"presets":["PresetSummary"],"metrics":["MetricInfo"],"config_show":null,"config_check":null,"config_diff":null,"settings_form":"SettingsForm","report":null,"export":null,"config_fmt":null,"tasks":["TaskInfo"],"task":"TaskInfo","task_log":null,"task_result":null,"cancel_task":"TaskInfo","eval":"EvaluationReport","check":null,"check_all":"PresetsReport","net":"NetworkReport","audit":"AuditReport","video":"FilmReport","tune_envs":"TuningResult","tune_scale":"ScaleResult","frames":null,"trajectories":null,"trajectory_metrics":"TrajectoryMetrics","trajectory_paths":null,"trajectory_replay":"TrajectoryFilms","review_contents":"ReviewContents","review_runs":null,"reviews":"ReviewList","review":"Review","prompts":null,"prompt":null,"nightly":"NightlyReport","bundle_contents":null,"bundle":null,"league":"LeagueRatings","self_play":"SelfPlay","cross_play":"CrossPlayReport","spaces":null,"dry_run":"TrainingPlan","train_command":null,"start":null,"resume":null,"jobs":["JobStatus"],"wait":null,"cancel":null,"group":"GroupResult","host_check":null,"stop":["CommandAnswer"],"pause":"CommandAnswer","unpause":"CommandAnswer","checkpoint":"CommandAnswer","set_live":"CommandAnswer","evaluate_live":"CommandAnswer","sweep_init":null,"sweep_plan":"SweepPlan","sweep_start":"StartedSweep","sweep_list":["SweepSummary"],"sweep_status":"SweepStatus","sweep_resume":"StartedSweep","sweep_stop":"SweepSummary","sweep_best":"BestTrial","sweep_importance":"SweepImportance","sweep_plots":"StudyPlots","sweep_remove":null,"tune_preset":"StartedSweep","remove":"Removal","prune":"Removal","film_queue":null,"clear_film_queue":null,"tag":null,"note":null,"init":null};
