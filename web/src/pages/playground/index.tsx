/** The playground: a grid world and a bandit that learn in the browser. It needs no run, and asks the server nothing. */
import { navigate, pathWith, route } from "../../app/router";
import { CopyButton } from "../../ui/CopyButton";
import { TabPanel, Tabs } from "../../ui/Tabs";
import { BanditLab } from "./bandit/BanditLab";
import { GridWorld } from "./grid/GridWorld";
import "./playground.css";
import "./panels.css";

const TABS = [
  { key: "grid", label: "Grid world", to: "/playground" },
  { key: "bandit", label: "Bandit", to: "/playground?mode=bandit" },
];

/** Tab -> the address that it had when it was left. */
const left = new Map<string, string>();

export default function PlaygroundPage() {
  const mode = route.value.params.get("mode") === "bandit" ? "bandit" : "grid";
  const open = (key: string) => {
    if (key === mode) return;
    left.set(mode, pathWith("/playground", Object.fromEntries(route.peek().params)));
    navigate(left.get(key) ?? TABS.find((tab) => tab.key === key)?.to ?? "/playground");
  };
  return (
    <div class="playground">
      <header class="playground-head">
        <h1>Playground</h1>
        <Tabs label="Playground" tabs={TABS} current={mode} panel="playground" onChange={open} />
        <span class="playground-space" />
        <CopyButton text={() => location.href} label="Copy link" what="the link to this state" />
      </header>
      <TabPanel id="playground" tab={mode}>
        {mode === "bandit" ? <BanditLab /> : <GridWorld />}
      </TabPanel>
    </div>
  );
}
