import { clean, kubectl, nodes, notReady, podsOn, resetByHand, takenAway } from "./by-hand";
import { joins, removes } from "./steps";
import type { Story } from "./story";

/** Machines that are renamed, swapped, doubled or reset by hand. */
export const machineStories: readonly Story[] = [
  {
    title: "a worker is added, and taken out again",
    runs: [
      { edit: { machines: ["cp-1", "w-1", "w-2", "w-3"] }, preview: joins("w-3"), then: [podsOn("w-3")] },
      { preview: removes("w-3"), then: [clean("w-3")] },
    ],
  },
  {
    title: "a worker gets another name",
    runs: [{ edit: { machines: ["cp-1", "w-1", "w-9"], on: { "w-9": "w-2" } }, preview: /write name: w-2/ }],
  },
  {
    title: "two workers swap their names",
    runs: [{ edit: { on: { "w-1": "w-2", "w-2": "w-1" } }, preview: /w-1 is the machine w-2 of this stack/ }],
  },
  {
    title: "a worker is listed twice, under two names",
    runs: [
      {
        edit: { machines: ["cp-1", "w-1", "w-2", "w-3"], on: { "w-3": "w-2" } },
        preview: /is the address and port of machines\[2\] too/,
      },
    ],
  },
  {
    title: "a worker is reset by hand, and joins again",
    byDay: true,
    runs: [{ byHand: [resetByHand("w-2"), notReady("w-2")], preview: joins("w-2"), then: [podsOn("w-2")] }],
  },
  {
    title: "a worker is reset by hand, and its Node is deleted",
    runs: [
      {
        byHand: [resetByHand("w-2"), kubectl("delete", "node", "w-2")],
        preview: joins("w-2"),
        then: [podsOn("w-2")],
      },
    ],
  },
  {
    title: "a worker is reset by hand before it leaves, and joins again",
    runs: [
      {
        byHand: [resetByHand("w-2"), notReady("w-2")],
        edit: { machines: ["cp-1", "w-1"] },
        preview: removes("w-2"),
        then: [nodes("cp-1", "w-1"), clean("w-2")],
      },
      { preview: joins("w-2"), then: [podsOn("w-2")] },
    ],
  },
  {
    title: "two workers are added at once, and taken out again",
    runs: [
      {
        edit: { machines: ["cp-1", "w-1", "w-2", "w-3", "w-4"] },
        preview: joins("w-3", "w-4"),
        then: [podsOn("w-3", "w-4")],
      },
      { preview: removes("w-3", "w-4"), then: [clean("w-3"), clean("w-4")] },
    ],
  },
  {
    title: "a worker takes the place of another one",
    runs: [
      {
        edit: { machines: ["cp-1", "w-1", "w-3"] },
        preview: [...joins("w-3"), ...removes("w-2")],
        then: [nodes("cp-1", "w-1", "w-3"), clean("w-2")],
      },
    ],
  },
  {
    title: "all workers leave and come back",
    runs: [
      { edit: { machines: ["cp-1"] }, preview: removes("w-1", "w-2"), then: [nodes("cp-1")] },
      { preview: joins("w-1", "w-2"), then: [podsOn("w-1", "w-2")] },
    ],
  },
  {
    title: "the machine of a worker is reinstalled, listed as lost, and joins again",
    runs: [
      {
        byHand: [takenAway("w-2"), notReady("w-2")],
        edit: { machines: ["cp-1", "w-1"], lost: ["w-2"] },
        preview: [{ kind: "lose", machine: "w-2" }],
        then: [nodes("cp-1", "w-1")],
      },
      { preview: joins("w-2"), then: [podsOn("w-2")] },
    ],
  },
];
