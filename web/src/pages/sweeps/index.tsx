/** Sweeps: the studies of a hyperparameter search, and what one of them has found so far. */
import "./sweeps.css";
import type { PageProps } from "../../app/pages";
import { StudyList } from "./StudyList";
import { StudyView } from "./StudyView";

export default function SweepsPage({ values }: PageProps) {
  const name = values["name"];
  return name === undefined ? <StudyList /> : <StudyView key={name} study={name} />;
}
