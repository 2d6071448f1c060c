import { agentStories } from "./agents";
import { controlPlaneStories } from "./control-planes";
import { killedStories } from "./killed-runs";
import { machineStories } from "./machines";
import { nodeStories } from "./nodes";
import { objectStories } from "./objects";
import { powerStories } from "./power";
import type { StoryGroup } from "./story";
import { updateStories } from "./updates";
import { valueStories } from "./values";

/** All stories, by the machines with which they begin and end. */
export const STORY_GROUPS: readonly StoryGroup[] = [
  {
    about: "with one control plane and two workers",
    machines: ["cp-1", "w-1", "w-2"],
    stories: [
      ...valueStories,
      ...nodeStories,
      ...objectStories,
      ...machineStories,
      ...agentStories,
      ...powerStories,
      ...updateStories,
      ...killedStories,
    ],
  },
  {
    about: "with three control planes and a worker",
    machines: ["cp-1", "cp-2", "cp-3", "w-1"],
    stories: controlPlaneStories,
  },
];
