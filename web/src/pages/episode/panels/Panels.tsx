/** Questions about the current step: why, what if, what would have been better, what does a reviewer say. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { TabPanel, Tabs } from "../../../ui/Tabs";
import { Blunders } from "./Blunders";
import { Reviews } from "./Reviews";
import { WhatIf } from "./WhatIf";
import { Why } from "./Why";
import "./panels.css";

const PANEL = "episode-panel";
const PANELS: { key: string; label: string; View: ComponentType }[] = [
  { key: "why", label: "Why", View: Why },
  { key: "what-if", label: "What if", View: WhatIf },
  { key: "blunders", label: "Blunders", View: Blunders },
  { key: "review", label: "Review", View: Reviews },
];

export function Panels() {
  const chosen = useSignal("blunders");
  const { View } = PANELS.find(({ key }) => key === chosen.value) ?? PANELS[0]!;
  return (
    <aside class="episode-panels" aria-label="Questions">
      <Tabs label="Questions" tabs={PANELS} current={chosen.value} onChange={(key) => (chosen.value = key)} panel={PANEL} />
      <TabPanel id={PANEL} tab={chosen.value}>
        <View />
      </TabPanel>
    </aside>
  );
}
