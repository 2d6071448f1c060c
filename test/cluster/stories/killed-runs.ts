import { clean, nodes, podsOn } from "./by-hand";
import { joins, removes } from "./steps";
import type { Story } from "./story";

const THREE = { machines: ["cp-1", "w-1", "w-2", "w-3"] };
const FOUR = { machines: [...THREE.machines, "w-4"] };
const ONE = { machines: ["cp-1", "w-1"] };
/** What is listed of a machine that a killed run has prepared, and that is not wanted. */
const GIVEN_BACK = [{ kind: "remove", machine: "w-3", interrupted: true }];

/** Runs that are killed, and what people do then. */
export const killedStories: readonly Story[] = [
  {
    title: "a run is killed while it prepares a worker, and runs again",
    runs: [
      { edit: THREE, preview: joins("w-3"), killedAt: { machine: "w-3", operation: "prepare" } },
      { edit: THREE, preview: joins("w-3"), then: [podsOn("w-3")] },
    ],
  },
  {
    title: "a run is killed while it prepares a worker, and the worker is taken back",
    runs: [
      { edit: THREE, preview: joins("w-3"), killedAt: { machine: "w-3", operation: "prepare" } },
      { preview: GIVEN_BACK, then: [nodes("cp-1", "w-1", "w-2"), clean("w-3")] },
    ],
  },
  {
    title: "a run is killed while it prepares a worker, and another one is added",
    runs: [
      { edit: THREE, preview: joins("w-3"), killedAt: { machine: "w-3", operation: "prepare" } },
      { edit: FOUR, preview: joins("w-3", "w-4"), then: [podsOn("w-3", "w-4")] },
    ],
  },
  {
    title: "a run is killed while it resets a worker, and runs again",
    runs: [
      { edit: ONE, preview: removes("w-2"), killedAt: { machine: "w-2", operation: "reset" } },
      { edit: ONE, preview: removes("w-2"), then: [nodes("cp-1", "w-1"), clean("w-2")] },
    ],
  },
  {
    title: "a run is killed while it resets a worker, which is wanted again",
    runs: [
      { edit: ONE, preview: removes("w-2"), killedAt: { machine: "w-2", operation: "reset" } },
      { preview: /w-2 was reset: a removal was interrupted; take the machine out/ },
      { edit: ONE, preview: removes("w-2"), then: [clean("w-2")] },
    ],
  },
];
