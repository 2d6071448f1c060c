import { annotationKeys } from "../../../providers/kubeadm/plan/rollout/annotations";
import { awaitNode } from "../await-node";
import { label, nodes, on, sshOff, sshOn, startUnit, stopUnit } from "./by-hand";
import { configures, joins, removes } from "./steps";
import type { Action, Story } from "./story";

const AGENT = "foresail-node-agent";
const KEYS = annotationKeys();
const LONGEST_ROLLOUT_SECONDS = 300;

/** Lets the agent of a node hang as soon as the node's change window is open, or the agent has begun. */
const hangsWhen =
  (machine: string, key: string, value: string): Action =>
  async (cluster) => {
    await awaitNode(cluster, machine, {
      what: `${key} of ${machine} to be ${value}`,
      seconds: LONGEST_ROLLOUT_SECONDS,
      decide: ({ metadata }) => (metadata?.annotations?.[key] === value ? undefined : "it is not"),
    });
    await on(machine, `systemctl kill --signal=STOP ${AGENT}`)(cluster);
  };

/** A change of the workers' settings during which the agent of one hangs. */
const hangs = (title: string, during: Action): Story => ({
  title,
  runs: [
    {
      edit: { fields: { pools: { workers: { kubelet: { maxPods: 100 } } } } },
      preview: configures("w-1", "w-2"),
      during,
    },
  ],
});

const WITHOUT_SECOND = { machines: ["cp-1", "w-1"] };

/** Machines on which sshd or the node agent is off. */
export const agentStories: readonly Story[] = [
  hangs("the node agent of a worker hangs before it begins", hangsWhen("w-1", KEYS.changesAllowed, "true")),
  hangs("the node agent of a worker hangs while it is at work", hangsWhen("w-1", KEYS.ready, "false")),
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
