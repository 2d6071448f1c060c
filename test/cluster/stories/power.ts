import { notReady, ready, startUnit, stopUnit } from "./by-hand";
import type { Story } from "./story";

/** Machines and programs on them that are off, or were. */
export const powerStories: readonly Story[] = [
  {
    title: "the kubelet of a worker is off, and nothing changes",
    runs: [
      {
        byHand: [stopUnit("w-2", "kubelet"), notReady("w-2")],
        preview: [],
        remarks: [/w-2 is not Ready/],
        then: [startUnit("w-2", "kubelet"), ready("w-2")],
      },
    ],
  },
];
