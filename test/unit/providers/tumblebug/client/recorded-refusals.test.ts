import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { RefusalCode } from "../../../../../providers/tumblebug/client";
import { refusalCode } from "../../../../../providers/tumblebug/client/errors";
import { projectFolder } from "../../../../../sandbox/paths";

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly response: string;
}

const RECORDINGS = ["infra-v0.13.0-21", "mcis-v0.7.0"];

/** The distinctive words of real servers' errors; each recorded error response is in exactly one row. */
const MEANINGS: readonly [code: RefusalCode, words: RegExp, asked?: RegExp][] = [
  ["Unauthorized", /^Unauthorized$/],
  ["NamespaceNotFound", /^Not valid namespace$/],
  ["NoSuchRoute", /^Not Found$/],
  ["AlreadyExists", /already exists/],
  ["AlreadyExists", /^ERROR: duplicate key value violates unique constraint/],
  ["AlreadyMember", /NLB already has this VM/],
  ["NotMember", /NLB does not have this VM/],
  ["InUse", /^Cannot delete NS \S+ which is not empty/],
  ["InUse", /still referenced by 6 object\(s\)/],
  ["InUse", /currently referenced by VMs/],
  ["NotAllowedNow", /^MCIS \S+ is Partial-Failed:.*Deletion is not allowed/],
  ["NotAllowedNow", /^Infra \S+ is Partial-Running:.*which is not a deletable status/],
  ["NotFound", /^The \w+ \S+ does not exist\.$/],
  ["NotFound", /^does not exist, vNet: /],
  ["NotFound", /^Failed to find /],
  ["NotFound", /^Not found \[/],
  ["NotFound", /^no Node found /],
  ["NotFound", /^The (image|spec)Key \S+ not found by any of /],
  ["NotFound", /^Cannot find the model\.ConnConfig |^no-such-conn: does not exist!/],
  ["NotFound", /does not exist!!/, /^POST \/lookup/],
  // what an object needs is missing, and not the object
  ["Refused", /VMSpec does not exist!!|image does not exist!!/, /^POST \/ns/],
  ["Refused", /^Failed to get the (Tb)?VNetInfo /],
  ["Refused", /^VM '' does not exist in connection /, /^POST .*\/nlb$/],
  ["Refused", /^Infra '\S+' creation failed: all 3 VMs failed to create/],
  ["Refused", /^VM \S+: (The (image|spec)Key|does not exist, subnet|InsufficientInstanceCapacity)/],
  // a second terminate: VMs are missing in the cloud, and the MCIS is there
  ["Refused", /^1\/8 node control operations failed; .* does not exist in connection/],
  ["Refused", /^\[\{"message":"\[mock-config01:vm:\S+\] does not exist!"\}/],
  // one sentence for every failure
  ["Refused", /^Failed to delete the (VM|Node) info$/],
];

const recorded = RECORDINGS.flatMap((name) =>
  readFileSync(path.join(projectFolder, "test/fixtures/tumblebug", `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ name, ...(JSON.parse(line) as Recorded) })),
).filter(({ status }) => status >= 400);

/** The innermost message. */
function messageOf(response: string): string {
  try {
    return messageOf((JSON.parse(response) as { message: string }).message);
  } catch {
    return response;
  }
}

describe("error answers recorded from real Tumblebug servers", () => {
  it("are many, of both generations", () => {
    assert.ok(RECORDINGS.every((name) => recorded.filter((one) => one.name === name).length > 40));
  });

  it("mean what the server meant, each", () => {
    const unused = new Set(MEANINGS);
    for (const { name, method, path: full, status, response } of recorded) {
      const ref = full.replace(/^\/tumblebug/, "");
      const message = messageOf(response);
      const rows = MEANINGS.filter(
        ([, words, asked]) => words.test(message) && (asked?.test(`${method} ${ref}`) ?? true),
      );
      const what = `${name}: ${method} ${ref} ${status} ${message}`;
      assert.equal(rows.length, 1, `${rows.length} rows for ${what}`);
      unused.delete(rows[0]!);
      assert.equal(refusalCode({ method, path: ref }, status, response), rows[0]![0], what);
    }
    assert.deepEqual([...unused], [], "rows without a recorded answer");
  });
});
