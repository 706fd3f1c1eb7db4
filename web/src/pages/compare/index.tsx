import type { PageProps } from "../../app/pages";

export default function ComparePage(_: PageProps) {
  return <h1>Compare</h1>;
}
