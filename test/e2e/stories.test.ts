import { STORY_GROUPS } from "../cluster/stories";
import { restore, runStory } from "../cluster/stories/runner";
import { TestCluster } from "../cluster/test-cluster";
import { leaveOut } from "../left-out";

// for work on a story: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const BY_NIGHT = process.env.FORESAIL_TEST_ALL === "1" || KEEP;

describe("ordinary days of a cluster", function () {
  this.timeout(900_000);
  let cluster: TestCluster;
  before(async () => {
    cluster = await TestCluster.open("stories", { keep: KEEP });
  });
  after(async () => {
    if (!KEEP) await cluster.remove();
  });

  for (const { about, machines, stories } of STORY_GROUPS)
    describe(about, () => {
      let isAtStart = false;
      for (const story of stories)
        it(story.title, async function () {
          if (story.byDay !== true && !BY_NIGHT)
            leaveOut(this, "an ordinary day of many: FORESAIL_TEST_ALL=1 has all of them");
          if (!isAtStart) await restore(cluster, { machines });
          isAtStart = false;
          await runStory(cluster, { machines }, story);
          isAtStart = story.wrong === undefined;
        });
    });
});
