import { label, nodes, sshOff, sshOn, startUnit, stopUnit } from "./by-hand";
import { joins, removes } from "./steps";
import type { Story } from "./story";

const AGENT = "foresail-node-agent";
const WITHOUT_SECOND = { machines: ["cp-1", "w-1"] };

/** Machines on which sshd or the node agent is off. */
export const agentStories: readonly Story[] = [
  {
    title: "sshd of a worker that leaves is off",
    runs: [
      { byHand: [sshOff("w-2")], edit: WITHOUT_SECOND, preview: removes("w-2"), fails: /w-2/ },
      {
        byHand: [sshOn("w-2")],
        edit: WITHOUT_SECOND,
        preview: removes("w-2"),
        then: [nodes("cp-1", "w-1")],
      },
      { preview: joins("w-2") },
    ],
  },
  {
    title: "the node agent of a worker is off, and nothing changes",
    runs: [{ byHand: [stopUnit("w-2", AGENT)], preview: [], then: [startUnit("w-2", AGENT)] }],
  },
  {
    title: "sshd of a worker that stays is off, and nothing changes",
    runs: [{ byHand: [sshOff("w-2")], preview: [], then: [sshOn("w-2")] }],
  },
  {
    title: "sshd of a worker that gets a label is off",
    runs: [
      {
        byHand: [sshOff("w-2")],
        edit: { labels: { "w-2": { "example.org/team": "blue" } } },
        preview: [{ kind: "settings", machine: "w-2" }],
        then: [label("w-2", "example.org/team", "blue"), sshOn("w-2")],
      },
    ],
  },
];
