import type { PageProps } from "../../app/pages";

export default function SelfPlayPage(_: PageProps) {
  return <h1>SelfPlay</h1>;
}
