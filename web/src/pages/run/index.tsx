import type { PageProps } from "../../app/pages";

export default function RunPage(_: PageProps) {
  return <h1>Run</h1>;
}
