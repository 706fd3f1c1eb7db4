import type { PageProps } from "../../app/pages";

export default function RunsPage(_: PageProps) {
  return <h1>Runs</h1>;
}
