import { annotationKeys } from "../../../providers/kubeadm/plan/rollout/annotations";
import { annotation, cordoned, kubectl, label, nodes, podsOn, stopUnit, taint } from "./by-hand";
import { joins, registers, removes } from "./steps";
import type { Story } from "./story";

const KEYS = annotationKeys();
const POOL = "workers";

/** Nodes that people delete, cordon, label and taint by hand. */
export const nodeStories: readonly Story[] = [
  {
    title: "the Node of a worker is deleted by hand, and its machine registers again",
    runs: [{ byHand: [kubectl("delete", "node", "w-2")], preview: registers("w-2"), then: [podsOn("w-2")] }],
  },
  {
    title: "the label of the group is removed by hand",
    runs: [
      {
        byHand: [kubectl("label", "node", "w-2", "foresail/group-")],
        preview: [{ kind: "complete", machine: "w-2" }, { kind: "spreadDns" }],
        then: [label("w-2", "foresail/group", POOL)],
      },
    ],
  },
  {
    title: "the Node of the only control plane is deleted by hand",
    runs: [
      {
        byHand: [kubectl("delete", "node", "cp-1")],
        preview: registers("cp-1"),
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
    title: "a worker that was cordoned and drained by hand leaves and comes back",
    runs: [
      {
        byHand: [kubectl("drain", "w-2", "--ignore-daemonsets", "--delete-emptydir-data", "--force")],
        edit: { machines: ["cp-1", "w-1"] },
        preview: [{ kind: "remove", machine: "w-2" }],
      },
      { preview: joins("w-2") },
    ],
  },
  {
    title: "labels and taints that people set stay",
    runs: [
      {
        byHand: [
          kubectl("label", "node", "w-2", "team=blue"),
          kubectl("taint", "node", "w-2", "team=blue:NoSchedule"),
        ],
        preview: [],
        then: [
          label("w-2", "team", "blue"),
          taint("w-2", "team"),
          kubectl("label", "node", "w-2", "team-"),
          kubectl("taint", "node", "w-2", "team-"),
        ],
      },
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
  {
    title: "the label of the group is changed by hand",
    runs: [
      {
        byHand: [kubectl("label", "node", "w-2", "foresail/group=other", "--overwrite")],
        preview: [{ kind: "settings", machine: "w-2" }],
        then: [label("w-2", "foresail/group", POOL)],
      },
    ],
  },
  {
    title: "the label and the taint of the control plane are removed by hand",
    runs: [
      {
        byHand: [
          kubectl("label", "node", "cp-1", "node-role.kubernetes.io/control-plane-"),
          kubectl("taint", "node", "cp-1", "node-role.kubernetes.io/control-plane-"),
        ],
        preview: [{ kind: "settings", machine: "cp-1" }],
        then: [taint("cp-1", "node-role.kubernetes.io/control-plane")],
      },
    ],
  },
  {
    title: "a worker is cordoned by hand, and stays so",
    runs: [
      {
        byHand: [kubectl("cordon", "w-2")],
        preview: [],
        then: [cordoned("w-2"), kubectl("uncordon", "w-2")],
      },
    ],
  },
  {
    title: "the annotations of a worker's node agent are removed by hand, and the agent writes them again",
    runs: [
      {
        byHand: [kubectl("annotate", "node", "w-2", `${KEYS.ready}-`, `${KEYS.revision}-`)],
        preview: [],
        then: [annotation("w-2", KEYS.revision)],
      },
    ],
  },
  {
    title: "every Node is deleted by hand",
    runs: [
      {
        byHand: [kubectl("delete", "node", "cp-1", "w-1", "w-2")],
        preview: [...registers("cp-1"), ...registers("w-1"), { kind: "register", machine: "w-2" }],
        then: [podsOn("cp-1", "w-1", "w-2")],
      },
    ],
  },
  {
    title: "the Node of a worker is deleted by hand, and its kubelet was stopped before",
    runs: [
      {
        byHand: [stopUnit("w-2", "kubelet"), kubectl("delete", "node", "w-2")],
        preview: registers("w-2"),
        then: [podsOn("w-2")],
      },
    ],
  },
  {
    title: "the Node of a worker is deleted by hand while it gets a label",
    runs: [
      {
        byHand: [kubectl("delete", "node", "w-2")],
        edit: { labels: { "w-2": { "example.org/team": "blue" } } },
        preview: registers("w-2"),
        then: [label("w-2", "example.org/team", "blue")],
      },
    ],
  },
  {
    title: "a worker is drained by hand, and stays so",
    runs: [
      {
        byHand: [kubectl("drain", "w-2", "--ignore-daemonsets", "--delete-emptydir-data", "--force")],
        preview: [],
        then: [cordoned("w-2"), kubectl("uncordon", "w-2")],
      },
    ],
  },
  {
    title: "the only control plane is cordoned by hand, and stays so",
    runs: [
      {
        byHand: [kubectl("cordon", "cp-1")],
        preview: [],
        then: [cordoned("cp-1"), kubectl("uncordon", "cp-1")],
      },
    ],
  },
  {
    title: "a worker is cordoned by hand while another one joins and leaves",
    runs: [
      {
        byHand: [kubectl("cordon", "w-2")],
        edit: { machines: ["cp-1", "w-1", "w-2", "w-3"] },
        preview: joins("w-3"),
        then: [cordoned("w-2"), podsOn("w-3")],
      },
      { preview: removes("w-3"), then: [cordoned("w-2"), kubectl("uncordon", "w-2")] },
    ],
  },
];
