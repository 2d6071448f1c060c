import assert from "node:assert/strict";
import { BehindFailure } from "../../../../cli/review/cascading-errors";

const urn = (type: string, name: string) =>
  `urn:pulumi:test::foresail::foresail:kubeadm:KubeadmCluster$${type}::${name}`;
const unseen = (type: string, name: string) =>
  `error: expected resource operations for ${urn(type, name)} but none were seen`;
const GROUP = "pulumi-nodejs:dynamic/foresail:NodeGroup";

function filtered(text: string): { shown: string; summary: string | undefined } {
  const filter = new BehindFailure();
  const shown = text.split("\n").flatMap((line) => filter.line(line));
  return { shown: [...shown, ...filter.rest()].join("\n"), summary: filter.summary };
}

const FAILED = `Updating (test):

 +  command:remote:Command test-w-5-prepare **creating failed** error: exit status 1
    ${GROUP} test-workers  ${unseen(GROUP, "test-workers")}
    pulumi:providers:pulumi-nodejs default  error: expected resource operations for urn:pulumi:test::foresail::pulumi:providers:pulumi-nodejs::default but none were seen
    ${GROUP} test-workers **failed** 1 error
    pulumi:providers:pulumi-nodejs default **failed** 1 error
Diagnostics:
  ${GROUP} (test-workers):
    ${unseen(GROUP, "test-workers")}

  command:remote:Command (test-w-5-prepare):
    error: remote command ended with exit status 1:
    disk full

Resources:
    4 unchanged
    3 errored
`;

describe("cascading errors of the engine", () => {
  it("are reduced to one line, and the failure's own message stays", () => {
    assert.deepEqual(filtered(FAILED), {
      shown: `Updating (test):

 +  command:remote:Command test-w-5-prepare **creating failed** error: exit status 1
Diagnostics:
  command:remote:Command (test-w-5-prepare):
    error: remote command ended with exit status 1:
    disk full

Resources:
    4 unchanged
    1 errored
`,
      summary: "not reached because of the failure, left to the next run: test-workers",
    });
  });

  it("are found in colored output", () => {
    const { shown, summary } = filtered(`\u001b[31m    ${GROUP} a  ${unseen(GROUP, "a")}\u001b[0m\nb`);
    assert.deepEqual([shown, summary?.endsWith(": a")], ["b", true]);
  });

  it("leave a run without them unchanged, including its headers", () => {
    const text = `Diagnostics:\n  ${GROUP} (test-workers):\n    w-1 joined\n\n    error: no\n\n  ${GROUP} (b):`;
    assert.deepEqual(filtered(text), { shown: text, summary: undefined });
  });

  it("keep other messages about a resource", () => {
    const text = `  ${GROUP} (a):\n    warning: slow\n    ${unseen(GROUP, "a")}\n\nend`;
    assert.equal(filtered(text).shown, `  ${GROUP} (a):\n    warning: slow\nend`);
  });
});
