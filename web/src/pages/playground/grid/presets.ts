/** Worlds to begin with. */
import { withCell, worldOf, type World } from "./world";

export interface Preset {
  key: string;
  name: string;
  /** Two or three sentences for learners. */
  text: string;
  world: World;
  gamma: number;
}

export const PRESETS: readonly Preset[] = [
  {
    key: "lake",
    name: "FrozenLake 4x4",
    text: "Gymnasium's FrozenLake-v1: the ice is slippery, and only a third of the moves go where the agent wants. The best policy stays away from the holes by pushing against the edge, and still falls in now and then.",
    world: worldOf(["S...", ".H.H", "...H", "H..G"], { pit: 0, slip: 2 / 3 }),
    gamma: 0.99,
  },
  {
    key: "cliff",
    name: "Cliff walking",
    text: "Gymnasium's CliffWalking: every step costs 1, and a step into the cliff costs 100 and leads back to the start. The shortest path runs along the edge, where one random step is expensive.",
    world: worldOf(["............", "............", "............", "SHHHHHHHHHHG"], {
      goal: -1,
      pit: -100,
      stepReward: -1,
      pitEnds: false,
      maxSteps: 500,
    }),
    gamma: 1,
  },
  {
    key: "maze",
    name: "Maze",
    text: "Only the goal pays, and it is far away. The first episodes are a random walk; then the value of the goal spreads backward, one step per visit, unless eligibility traces carry it further.",
    world: worldOf(
      [
        "S..#......",
        ".#.#.####.",
        ".#...#....",
        ".###.#.##.",
        "...#...#..",
        ".#.#####.#",
        ".#.......G",
      ],
      { goal: 1, maxSteps: 300 },
    ),
    gamma: 0.95,
  },
  {
    key: "windy",
    name: "Windy grid",
    text: "From Sutton and Barto's book: wind blows upward in the middle columns, and every step costs 1. The agent has to enter the wind below the goal, and come back to it from the right.",
    world: worldOf(
      ["..........", "..........", "..........", "S......G..", "..........", "..........", ".........."],
      { goal: -1, stepReward: -1, wind: [0, 0, 0, 1, 1, 1, 2, 2, 1, 0], maxSteps: 500 },
    ),
    gamma: 1,
  },
  {
    key: "bridge",
    name: "Bridge",
    text: "A small reward is near, a large one is behind a bridge between pits. Whether the bridge is worth it depends on the discount and on how often the agent slips.",
    world: withCell(worldOf(["#HHHHH#", "GS....G", "#HHHHH#"], { goal: 10, pit: -10, slip: 0.1 }), 7, { kind: "goal", reward: 1 }),
    gamma: 0.9,
  },
];
