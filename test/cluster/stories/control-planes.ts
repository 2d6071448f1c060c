import { clean, kubectl, nodes, notReady, powerOff, powerOn, ready, taint } from "./by-hand";
import { joinsControlPlane, registers, removesControlPlane } from "./steps";
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
    title: "a control plane is lost, another one takes its place, and it comes back",
    runs: [
      {
        byHand: [powerOff("cp-3"), notReady("cp-3")],
        edit: { machines: ["cp-1", "cp-2", "cp-4", "w-1"], lost: ["cp-3"] },
        preview: [{ kind: "lose", machine: "cp-3", etcdMember: true }, ...joinsControlPlane("cp-4")],
        then: [nodes("cp-1", "cp-2", "cp-4", "w-1")],
      },
      {
        byHand: [powerOn("cp-3")],
        preview: [...joinsControlPlane("cp-3"), ...removesControlPlane("cp-4")],
        then: [clean("cp-4")],
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
