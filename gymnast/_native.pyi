"""Types of the compiled module, which is built from native/; see docs/native-engine.md."""

from numpy import ndarray

def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def use_instruction_set(instruction_set: str) -> None: ...
def set_threads(count: int) -> None: ...
def gae(
    reward: ndarray,
    value: ndarray,
    next_value: ndarray,
    terminated: ndarray,
    done: ndarray,
    gamma: float,
    lam: float,
    advantage: ndarray,
    target: ndarray,
) -> None: ...
def obs_changes(
    obs: ndarray, after: ndarray, stride: int, before: ndarray, change: ndarray
) -> None: ...
def column_means(x: ndarray) -> list[float]: ...
def diversity(x: ndarray, step: int = 1, copy: int = 1, number: int = 1) -> float: ...
def rollout_stats(
    reward: ndarray,
    action: ndarray,
    logprob: ndarray,
    terminated: ndarray,
    done: ndarray,
    obs: ndarray | None,
    valid: ndarray | None,
    options: int,
    each: bool,
) -> list[float]: ...
def few_rows(x: ndarray, weight: ndarray, bias: ndarray, out: ndarray) -> None: ...
def gather_images(planes: ndarray, index: ndarray, rows: ndarray, out: ndarray) -> None: ...
def summary_stats(x: ndarray, valid: ndarray | None) -> tuple[float, float, float, float]: ...

class Network:
    def __init__(self, size: int) -> None: ...
    def piece(self, part: str, at: int, width: int, table: int) -> None: ...
    def image(
        self, part: str, channels: int, height: int, width: int, planes_first: bool, top: float
    ) -> None: ...
    def conv(
        self,
        part: str,
        n_out: int,
        kernel: int,
        stride: int,
        weight: int,
        bias: int,
        activation: str,
    ) -> None: ...
    def dense(
        self,
        part: str,
        n_in: int,
        n_out: int,
        weight: int,
        bias: int,
        norm_scale: int,
        norm_bias: int,
        activation: str,
    ) -> None: ...
    def recurrent(
        self,
        part: str,
        kind: str,
        n_in: int,
        n_out: int,
        weight: int,
        recurrent: int,
        bias: int,
        recurrent_bias: int,
    ) -> None: ...
    def head(
        self,
        kind: str,
        n_outputs: int,
        groups: list[int],
        log_std: int,
        nodes: list[float],
        node_weights: list[float],
    ) -> None: ...
    def part(
        self,
        kind: str,
        n_outputs: int,
        groups: list[int],
        log_std: int,
        nodes: list[float],
        node_weights: list[float],
    ) -> None: ...
    def forward(
        self, parameters: ndarray, features: ndarray, critic: bool, out: ndarray
    ) -> None: ...
    def step(
        self,
        parameters: ndarray,
        features: ndarray,
        state: ndarray,
        next_state: ndarray,
        actor: ndarray,
        critic: ndarray,
    ) -> None: ...
    def act(
        self,
        parameters: ndarray,
        features: ndarray,
        noise: ndarray,
        mask: ndarray | None,
        chosen: ndarray | None,
        amounts: ndarray | None,
        dist: ndarray,
        logprob: ndarray,
        value: ndarray | None,
        state: ndarray | None = None,
        next_state: ndarray | None = None,
    ) -> None: ...
    def health(
        self,
        parameters: ndarray,
        features: ndarray,
        mask: ndarray | None,
        saturated: float,
        out: ndarray,
        state: ndarray | None = None,
    ) -> None: ...

class Batch:
    def __init__(
        self,
        features: ndarray,
        planes: ndarray | None,
        chosen: ndarray | None,
        amounts: ndarray | None,
        logprob: ndarray,
        dist: ndarray,
        advantage: ndarray,
        value: ndarray,
        target: ndarray,
        mask: ndarray | None,
    ) -> None: ...
    def sequences(self, start: ndarray, weight: ndarray, state: ndarray) -> None: ...

class Objective: ...

def objective(
    clip: float | None,
    critic: bool,
    huber: bool,
    value_clip: float | None,
    value_coef: float,
    entropy_coef: float,
    kl_coef: float,
    standardize: bool,
) -> Objective: ...
def update(
    network: Network,
    parameters: ndarray,
    gradient: ndarray,
    first: ndarray,
    second: ndarray,
    steps: int,
    batch: Batch,
    monitored: Batch,
    orders: ndarray,
    size: int,
    objective: Objective,
    lr: float,
    eps: float,
    weight_decay: float,
    max_norm: float,
    target_kl: float | None,
    table: ndarray,
) -> tuple[int, int, bool]: ...
def policy_shift(
    network: Network, parameters: ndarray, batch: Batch, clip: float
) -> tuple[float, float, float, float, float, float]: ...
