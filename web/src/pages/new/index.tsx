import type { PageProps } from "../../app/pages";

export default function NewRunPage(_: PageProps) {
  return <h1>NewRun</h1>;
}
