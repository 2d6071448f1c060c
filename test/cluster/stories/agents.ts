import { nodes, sshOff, sshOn } from "./by-hand";
import { joins, removes } from "./steps";
import type { Story } from "./story";

const WITHOUT_SECOND = { machines: ["cp-1", "w-1"] };

/** Machines that do not answer SSH. */
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
];
