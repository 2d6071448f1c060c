import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { dialectOf } from "../../../../providers/tumblebug/client/dialect";
import {
  connectionReleaseIssue,
  describedGroupFields,
  groupReleaseIssue,
} from "../../../../providers/tumblebug/plan/releases";

const FOLDER = resolve(__dirname, "../../../../../test/fixtures/tumblebug");
const linesOf = <T>(file: string): T[] =>
  readFileSync(resolve(FOLDER, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

/** What foresail sends for a group of VMs of the generation `infra`. */
const SENT = Object.keys(
  dialectOf("infra", (words) => words).groupBody({
    ...{ name: "cp", size: 1, connection: "c", spec: "s", image: "i", vNet: "v", subnet: "n" },
    ...{ securityGroups: [], sshKey: "k", user: "u" },
  }),
);

describe("releases of CB-Tumblebug, told apart by a server's answers", () => {
  const descriptions = linesOf<{ release: string; description: unknown }>("api-descriptions.jsonl");

  for (const { release, description } of descriptions) {
    const isRefused = ["0.12.6", "0.12.8"].includes(release);
    const format = Object.keys(description as object)[0];
    it(`${isRefused ? "refuse" : "accept"} ${release} by its own description (${format})`, () => {
      const described = describedGroupFields(description) ?? [];
      assert.ok(described.includes("nodeGroupSize"));
      const reason = groupReleaseIssue({ described, sent: SENT });
      if (isRefused)
        assert.match(reason ?? "", /has no cspImageName there, as in the releases 0.12.6 to 0.12.8/);
      else assert.equal(reason, undefined);
    });
  }

  it("refuse a later release in which a field that foresail sends has another name", () => {
    const described = SENT.filter((name) => !["nodeUserName", "specId"].includes(name));
    const reason = groupReleaseIssue({ described, sent: SENT }) ?? "";
    assert.match(reason, /^a group of VMs has no specId, nodeUserName there, so no VM can be created; use/);
  });

  it("accept a release without fields that foresail does not send, and a server that describes nothing", () => {
    const described = SENT.filter((name) => !["nodeUserPassword", "postCommand"].includes(name));
    assert.deepEqual(described, SENT);
    assert.equal(groupReleaseIssue({ described, sent: SENT }), undefined);
    for (const text of [undefined, null, "", [], { paths: {} }, { paths: { "/ns/{nsId}/infra": 1 } }])
      assert.equal(describedGroupFields(text), undefined);
  });

  interface Recorded {
    method: string;
    path: string;
    status: number;
    response: string;
  }
  const connections = (file: string) =>
    linesOf<Recorded>(file)
      .filter(({ path, status }) => /\/connConfig\/mock/.test(path) && status === 200)
      .map(({ response }) => Object.keys(JSON.parse(response) as object));

  it("accept the recorded connections of both generations", () => {
    for (const [generation, file] of [
      ["mcis", "mcis-v0.7.0.jsonl"],
      ["infra", "infra-v0.13.0-21.jsonl"],
    ] as const) {
      const recorded = connections(file);
      assert.ok(recorded.length > 0);
      for (const connectionFields of recorded)
        assert.equal(connectionReleaseIssue(generation, connectionFields), undefined);
    }
  });

  it("refuse connections of mcis as releases 0.8.8 to 0.9.4 show them", () => {
    for (const name of ["ConfigName", "configName"])
      assert.match(
        connectionReleaseIssue("mcis", [name, "providerName"]) ?? "",
        /field providerName instead of ProviderName, as in the releases 0.8.8 to 0.9.4/,
      );
  });
});
