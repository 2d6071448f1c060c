import { notReady, podsOn, powerOff, powerOn, ready, startUnit, stopUnit } from "./by-hand";
import { joins } from "./steps";
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
  {
    title: "the kubelet of a worker is off while another one joins",
    runs: [
      {
        byHand: [stopUnit("w-2", "kubelet"), notReady("w-2")],
        edit: { machines: ["cp-1", "w-1", "w-2", "w-3"] },
        preview: joins("w-3"),
        then: [podsOn("w-3"), startUnit("w-2", "kubelet"), ready("w-2")],
      },
    ],
  },
  {
    title: "containerd of a worker is off, and nothing changes",
    runs: [
      {
        byHand: [stopUnit("w-2", "containerd")],
        preview: [],
        then: [startUnit("w-2", "containerd"), ready("w-2")],
      },
    ],
  },
  {
    title: "a worker is off, and nothing changes",
    runs: [
      {
        byHand: [powerOff("w-2"), notReady("w-2")],
        preview: [],
        remarks: [/w-2 is not Ready/],
        then: [powerOn("w-2"), ready("w-2")],
      },
    ],
  },
];
