/** The result of evaluating a checkpoint on held-out seeds. */
import type { EvaluationReport, MatchScore, PolicyScore } from "../../../api/types";
import { HistogramChart } from "../../../chart/HistogramChart";
import { inkAt } from "../../../chart/colors";
import { formatCount, formatInterval, formatNumber, fullPrecision } from "../../../ui/numbers";
import { histogram } from "./histogram";

export function EvaluationResult({ report }: { report: EvaluationReport }) {
  return (
    <div class="run-evaluation">
      {report.score && <Policy score={report.score} />}
      {report.matches.map((match, index) => (
        <Matches key={index} match={match} />
      ))}
    </div>
  );
}

function Policy({ score }: { score: PolicyScore }) {
  const reached = score.threshold === null ? undefined : (score.low ?? score.mean) >= score.threshold;
  const { edges, counts } = histogram(score.returns);
  return (
    <>
      <h3>
        Policy after {formatCount(score.checkpoint)} env steps: <span class="num" title={fullPrecision(score.mean)}>{formatInterval(score.mean, score.low ?? NaN, score.high ?? NaN)}</span>{" "}
        {reached !== undefined && <span class={`badge ${reached ? "good" : "warning"}`}>{reached ? "reaches the threshold" : "below the threshold"}</span>}
      </h3>
      <dl class="run-facts-list">
        <dt>episodes</dt>
        <dd>
          {score.episodes} of {score.planned}
          {score.missing && `, because ${score.missing}`}
        </dd>
        <dt>IQM</dt>
        <dd title={fullPrecision(score.iqm)}>{formatNumber(score.iqm)}</dd>
        <dt>mean length</dt>
        <dd title={fullPrecision(score.length)}>{formatNumber(score.length)} steps</dd>
        {score.threshold !== null && <dt>threshold</dt>}
        {score.threshold !== null && <dd>{formatNumber(score.threshold)}</dd>}
        <dt>actions</dt>
        <dd>{score.deterministic ? "the most likely ones" : "sampled"}</dd>
      </dl>
      {!score.sound && <p class="warning">The missing episodes bias the score.</p>}
      {score.returns.length > 1 && (
        <HistogramChart
          title="Returns of the episodes"
          xLabel="return"
          yLabel="episodes"
          series={[{ key: "returns", label: "episodes", color: inkAt(0).color, edges, counts }]}
        />
      )}
    </>
  );
}

function Matches({ match }: { match: MatchScore }) {
  return (
    <>
      <h3>
        {match.episodes} matches of the policy after {formatCount(match.checkpoint)} env steps
      </h3>
      <dl class="run-facts-list">
        {Object.entries(match.roles).flatMap(([role, score]) => [
          <dt key={role}>{role}</dt>,
          <dd key={`${role} score`}>
            {score.plays}: won {score.win_rate === null ? "-" : `${formatNumber(score.win_rate * 100)} %`}, mean return{" "}
            {formatNumber(score.mean_return)}
          </dd>,
        ])}
      </dl>
      {match.missing && <p class="warning">Matches are missing, because {match.missing}.</p>}
    </>
  );
}
