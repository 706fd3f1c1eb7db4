/** Self-play: how strong each role is and was, against whom, and how matches end. */
import "./selfplay.css";
import type { PageProps } from "../../app/pages";
import { ChooseRun } from "./ChooseRun";
import { SelfPlayView } from "./SelfPlayView";

export default function SelfPlayPage({ values }: PageProps) {
  const id = values["id"];
  return id === undefined ? <ChooseRun /> : <SelfPlayView key={id} run={id} />;
}
