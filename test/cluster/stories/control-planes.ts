import {
  clean,
  cordoned,
  kubectl,
  nodes,
  notReady,
  powerOff,
  powerOn,
  ready,
  startUnit,
  stopUnit,
  taint,
} from "./by-hand";
import { joinsControlPlane, registers, removesControlPlane } from "./steps";
import type { Story } from "./story";

const ROLE = "node-role.kubernetes.io/control-plane";
const TWO = { machines: ["cp-1", "cp-2", "w-1"], fields: { allowEvenControlPlanes: true } };

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
  {
    title: "one of three control planes is cordoned by hand, and stays so",
    runs: [
      {
        byHand: [kubectl("cordon", "cp-2")],
        preview: [],
        then: [cordoned("cp-2"), kubectl("uncordon", "cp-2")],
      },
    ],
  },
  {
    title: "the label and the taint of one of three control planes are removed by hand",
    runs: [
      {
        byHand: [kubectl("label", "node", "cp-3", `${ROLE}-`), kubectl("taint", "node", "cp-3", `${ROLE}-`)],
        preview: [{ kind: "settings", machine: "cp-3" }],
        then: [taint("cp-3", ROLE)],
      },
    ],
  },
  {
    title: "the kubelet of one of three control planes is off, and nothing changes",
    runs: [
      {
        byHand: [stopUnit("cp-3", "kubelet"), notReady("cp-3")],
        preview: [],
        remarks: [/cp-3 is not Ready/],
        then: [startUnit("cp-3", "kubelet"), ready("cp-3")],
      },
    ],
  },
  {
    title: "the node agent of one of three control planes is off, and nothing changes",
    runs: [
      {
        byHand: [stopUnit("cp-2", "foresail-node-agent")],
        preview: [],
        then: [startUnit("cp-2", "foresail-node-agent")],
      },
    ],
  },
  {
    title: "one of three control planes is left out",
    runs: [
      { edit: { machines: TWO.machines }, preview: /2 control planes tolerate no more failures than 1/ },
    ],
  },
  {
    title: "one of three control planes is listed as lost while it is configured",
    runs: [{ edit: { lost: ["cp-3"] }, preview: /cp-3.* is still under cluster\.machines/ }],
  },
  {
    title: "one of three control planes is to be a worker under another name",
    runs: [{ edit: { ...TWO, machines: [...TWO.machines, "w-2"], on: { "w-2": "cp-3" } }, preview: /cp-3/ }],
  },
  {
    title: "the Node of a control plane that leaves was deleted by hand before",
    runs: [
      {
        byHand: [kubectl("delete", "node", "cp-3")],
        edit: TWO,
        preview: removesControlPlane("cp-3"),
        then: [nodes("cp-1", "cp-2", "w-1"), clean("cp-3")],
      },
      { preview: joinsControlPlane("cp-3"), then: [taint("cp-3", ROLE)] },
    ],
  },
  {
    title: "the first control plane leaves, and comes back",
    runs: [
      {
        edit: { ...TWO, machines: ["cp-2", "cp-3", "w-1"] },
        preview: removesControlPlane("cp-1"),
        then: [nodes("cp-2", "cp-3", "w-1"), clean("cp-1")],
      },
      { preview: joinsControlPlane("cp-1"), then: [taint("cp-1", ROLE)] },
    ],
  },
];
