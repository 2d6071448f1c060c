import { kubectl, notReady, powerOff, powerOn, ready, taint } from "./by-hand";
import { registers } from "./steps";
import type { Story } from "./story";

/** Control planes that are off, replaced or given up. */
export const controlPlaneStories: readonly Story[] = [
  {
    title: "one of three control planes is off, and nothing changes",
    runs: [
      {
        byHand: [powerOff("cp-3"), notReady("cp-3")],
        preview: [],
        remarks: [/cp-3 is not Ready/],
        then: [powerOn("cp-3"), ready("cp-3")],
      },
    ],
  },
  {
    title: "the first control plane is off while a worker gets a label",
    runs: [
      {
        byHand: [powerOff("cp-1"), notReady("cp-1")],
        edit: { labels: { "w-1": { "example.org/team": "blue" } } },
        preview: [{ kind: "settings", machine: "w-1" }],
        then: [powerOn("cp-1"), ready("cp-1")],
      },
    ],
  },
  {
    title: "the Node of one of three control planes is deleted by hand",
    runs: [
      {
        byHand: [kubectl("delete", "node", "cp-2")],
        preview: registers("cp-2"),
        then: [taint("cp-2", "node-role.kubernetes.io/control-plane")],
      },
    ],
  },
];
