import assert from "node:assert/strict";
import { recoverRelease, type ReleaseRevision } from "../../../../providers/helm/plan/release-record";

const revisions = (...statuses: string[]): ReleaseRevision[] =>
  statuses.map((status, index) => ({ secret: `r${index + 1}`, revision: index + 1, status }));
const context = { release: "az-demo/demo", isRecorded: false, isOurs: false, adopt: false };

describe("Helm's record of a release", () => {
  const cases: [string, ReleaseRevision[], Partial<typeof context>, string[]][] = [
    ["that is not there needs nothing", [], {}, []],
    [
      "that is deployed and in the state needs nothing",
      revisions("superseded", "deployed"),
      { isRecorded: true },
      [],
    ],
    ["of a cut-off installation is forgotten", revisions("pending-install"), { isOurs: true }, ["r1"]],
    [
      "of an installation that the state missed is forgotten",
      revisions("deployed"),
      { isOurs: true },
      ["r1"],
    ],
    [
      "of others is forgotten when it is taken over",
      revisions("superseded", "deployed"),
      { adopt: true },
      ["r1", "r2"],
    ],
    [
      "of a cut-off upgrade loses that revision",
      revisions("deployed", "pending-upgrade"),
      { isRecorded: true, isOurs: true },
      ["r2"],
    ],
    ["of a failed upgrade stays", revisions("deployed", "failed"), { isRecorded: true }, []],
  ];
  for (const [title, found, over, forgotten] of cases)
    it(title, () => {
      const { forget, steps, refusal } = recoverRelease(found, { ...context, ...over });
      assert.deepEqual(forget, forgotten);
      assert.equal(steps.length, forgotten.length);
      assert.equal(refusal, undefined);
    });

  const refused: [string, ReleaseRevision[], Partial<typeof context>, RegExp][] = [
    ["of others", revisions("deployed"), {}, /not of this stack; choose another name, or take it over/],
    ["that someone deleted", [], { isRecorded: true, isOurs: true }, /no record of it; run pulumi refresh/],
    [
      "of a cut-off uninstallation",
      revisions("uninstalling"),
      { isRecorded: true },
      /finish it with pulumi destroy/,
    ],
  ];
  for (const [title, found, over, words] of refused)
    it(`${title} is refused`, () => {
      const { refusal, forget } = recoverRelease(found, { ...context, ...over });
      assert.match(refusal ?? "", words);
      assert.deepEqual(forget, []);
    });
});
