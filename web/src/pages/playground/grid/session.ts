/** One learning session in a grid world: the environment, the algorithm, and what has happened so far. */
import { Random } from "../random";
import { ACTION_COUNT, GridEnv, modelOf, type Model } from "./dynamics";
import { History } from "./history";
import { ActionValueLearner, ReinforceLearner, type Learner } from "./learners";
import { bestActions, forecast, greedyPolicy, sweep, type Forecast } from "./planning";
import type { Settings } from "./settings";
import { isState, type World } from "./world";

/** The greedy policy is evaluated after so many times more episodes: often at first, when it changes most. */
const EVALUATION_GROWTH = 1.1;
/** Value iteration has converged when no value changes more than this in a sweep. */
export const CONVERGED = 1e-9;

export class Session {
  /** Environment steps, or sweeps of value iteration. */
  steps = 0;
  /** Finished episodes. */
  episodes = 0;
  /** Sum of rewards of the last finished episode. */
  lastReturn: number | null = null;
  /** How often the agent was on each cell. */
  readonly visits: Float64Array;
  /** Return of each episode; value of the start after each sweep of value iteration. */
  readonly returns = new History();
  /** Expected return of the greedy policy, now and then. */
  readonly greedy = new History();
  /** Largest change of a value in the last sweep. */
  lastChange = Infinity;
  model: Model;
  private readonly env: GridEnv;
  /** null for value iteration, which plans with the model. */
  private readonly learner: Learner | null;
  private readonly values: Float64Array;
  private readonly q: Float64Array;
  private episodeReturn = 0;
  private nextEvaluation = 1;

  constructor(
    public world: World,
    private settings: Settings,
  ) {
    const size = world.cells.length;
    this.model = modelOf(world);
    this.env = new GridEnv(world, Random.stream(settings.seed, 0));
    this.visits = new Float64Array(size);
    this.values = new Float64Array(size);
    const random = Random.stream(settings.seed, 1);
    const current = () => this.settings;
    if (settings.algorithm === "value_iteration") this.learner = null;
    else if (settings.algorithm === "reinforce") this.learner = new ReinforceLearner(size, current, random);
    else this.learner = new ActionValueLearner(size, current, random);
    this.q = this.learner?.q ?? new Float64Array(size * ACTION_COUNT);
    this.restart();
  }

  get currentSettings(): Settings {
    return this.settings;
  }

  /** Whether nothing changes any more: value iteration has converged. */
  get isDone(): boolean {
    return this.learner === null && this.lastChange < CONVERGED;
  }

  /** Cell of the agent; null for value iteration, which needs none. */
  get agent(): number | null {
    return this.learner ? this.env.state : null;
  }

  /** Steps of the present episode. */
  get episodeSteps(): number {
    return this.env.steps;
  }

  /** Does one step of the environment, or one sweep of value iteration. Returns whether an episode has ended. */
  step(): boolean {
    if (!this.learner) {
      this.lastChange = sweep(this.world, this.model, this.values, this.q, this.settings.gamma);
      this.steps++;
      this.returns.push(this.steps, this.value(this.world.start));
      this.recordGreedy(this.steps);
      return true;
    }
    const { state } = this.env;
    const action = this.learner.act(state);
    const result = this.env.step(action);
    this.learner.observe(state, action, result);
    this.steps++;
    this.episodeReturn += result.reward;
    this.visits[result.obs] = (this.visits[result.obs] ?? 0) + 1;
    if (!result.terminated && !result.truncated) return false;
    this.episodes++;
    this.lastReturn = this.episodeReturn;
    this.returns.push(this.episodes, this.episodeReturn);
    this.recordGreedy(this.episodes);
    this.restart();
    return true;
  }

  /** Returns the value of a cell; that of its reward for goals and pits is not part of it. */
  value(state: number): number {
    return this.learner ? this.learner.value(state) : (this.values[state] ?? 0);
  }

  /** Returns the value of an action; for REINFORCE, its preference. */
  actionValue(state: number, action: number): number {
    return this.q[state * ACTION_COUNT + action] ?? 0;
  }

  /** Returns the probabilities of actions that are drawn as arrows: the softmax of REINFORCE, otherwise equal shares
   * for the best ones. All are zero where nothing is known yet. */
  arrows(state: number): Float64Array {
    if (this.settings.algorithm === "reinforce" && this.learner) return this.learner.policy(state);
    const best = bestActions(this.q, state);
    const arrows = new Float64Array(ACTION_COUNT);
    if (best.length < ACTION_COUNT) for (const action of best) arrows[action] = 1 / best.length;
    return arrows;
  }

  /** Action values, or preferences, of all cells. */
  get table(): Float64Array {
    return this.q;
  }

  /** Returns what episodes of the greedy policy are like. */
  evaluate(): Forecast {
    return forecast(this.world, this.model, greedyPolicy(this.q));
  }

  private recordGreedy(count: number): void {
    if (count < this.nextEvaluation) return;
    this.greedy.push(count, this.evaluate().meanReturn);
    this.nextEvaluation = Math.ceil(count * EVALUATION_GROWTH);
  }

  /** Continues with other settings; what was learned stays. The algorithm must be the same. */
  setSettings(settings: Settings): void {
    this.settings = settings;
    this.lastChange = Infinity;
  }

  /** Continues in a changed world of the same size, with a new episode; what was learned stays. */
  setWorld(world: World): void {
    this.world = world;
    this.model = modelOf(world);
    this.lastChange = Infinity;
    for (let state = 0; state < world.cells.length; state++) {
      if (isState(world, state)) continue;
      this.learner?.forget(state);
      this.values[state] = 0;
      this.q.fill(0, state * ACTION_COUNT, (state + 1) * ACTION_COUNT);
    }
    this.env.setWorld(world);
    this.learner?.abandon();
    this.restart();
  }

  private restart(): void {
    const start = this.env.reset();
    this.episodeReturn = 0;
    if (this.learner) this.visits[start] = (this.visits[start] ?? 0) + 1;
  }
}
