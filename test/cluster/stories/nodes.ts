import { kubectl, label, nodes, podsOn, taint } from "./by-hand";
import { joins } from "./steps";
import type { Story } from "./story";

const POOL = "workers";

/** Nodes that people delete or change by hand. */
export const nodeStories: readonly Story[] = [
  {
    title: "the Node of a worker is deleted by hand, and its machine joins again",
    runs: [{ byHand: [kubectl("delete", "node", "w-2")], preview: joins("w-2"), then: [podsOn("w-2")] }],
  },
  {
    title: "the Node of the only control plane is deleted by hand",
    runs: [
      {
        byHand: [kubectl("delete", "node", "cp-1")],
        preview: [{ kind: "joinControlPlane", machine: "cp-1" }, { kind: "spreadDns" }],
        then: [taint("cp-1", "node-role.kubernetes.io/control-plane")],
      },
    ],
  },
  {
    title: "the Node of a worker that leaves was deleted by hand before",
    runs: [
      {
        byHand: [kubectl("delete", "node", "w-2")],
        edit: { machines: ["cp-1", "w-1"] },
        preview: [{ kind: "remove", machine: "w-2" }],
        then: [nodes("cp-1", "w-1")],
      },
      { preview: joins("w-2") },
    ],
  },
  {
    title: "the label of the pool is removed by hand",
    runs: [
      {
        byHand: [kubectl("label", "node", "w-2", `node-role.kubernetes.io/${POOL}-`)],
        preview: [{ kind: "settings", machine: "w-2" }],
        then: [label("w-2", `node-role.kubernetes.io/${POOL}`, "")],
      },
    ],
  },
];
