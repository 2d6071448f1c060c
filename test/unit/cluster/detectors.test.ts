import assert from "node:assert/strict";
import { announcedOperations } from "../../cluster/previewed-steps";
import { findSecrets } from "../../cluster/secret-search";
import { changingOperations, overlaps, parseStepLog, since } from "../../cluster/step-logs";

const began = (second: number, operation: string) => `== 2026-01-01T00:00:0${second}.000Z ${operation}`;
const ended = (second: number, operation: string) => `${began(second, operation)} ended with 0`;

describe("what the tests on real nodes detect", () => {
  describe("in the logs of steps", () => {
    it("runs one after another do not overlap", () => {
      const runs = parseStepLog(
        "w-1",
        [began(1, "prepare"), "words", ended(2, "prepare"), began(2, "facts"), ended(3, "facts")].join("\n"),
      );
      assert.deepEqual(overlaps(runs), []);
      assert.deepEqual(changingOperations(runs), ["w-1: prepare"]);
    });

    it("two runs at once do, of one step or of two", () => {
      const same = [began(1, "prepare"), began(2, "prepare"), ended(3, "prepare"), ended(4, "prepare")];
      assert.equal(overlaps(parseStepLog("w-1", same.join("\n"))).length, 1);
      const other = [began(1, "prepare"), ended(4, "prepare"), began(2, "reset"), ended(3, "reset")];
      assert.equal(overlaps(parseStepLog("w-1", other.join("\n"))).length, 1);
    });

    it("a run without an end overlaps whatever came after it", () => {
      const log = [began(1, "init"), began(2, "reset"), ended(3, "reset")];
      assert.equal(overlaps(parseStepLog("cp-1", log.join("\n"))).length, 1);
    });

    it("runs on two machines may overlap", () => {
      const log = [began(1, "prepare"), ended(3, "prepare")].join("\n");
      assert.deepEqual(overlaps([...parseStepLog("w-1", log), ...parseStepLog("w-2", log)]), []);
    });

    it("what ran since an earlier reading is distinguished, even within the same second", () => {
      const before = parseStepLog("w-1", [began(1, "endpoint"), ended(1, "endpoint")].join("\n"));
      assert.equal(since(before, [...before, ...before]).length, 1);
    });
  });

  describe("as secrets", () => {
    const found = (text: string) =>
      findSecrets([{ where: "log", text }], new Map([["the key", "c2VjcmV0LWJ5dGVz"]]));

    for (const [what, text] of [
      ["a private key", "x -----BEGIN RSA PRIVATE KEY----- y"],
      ["a certificate", "-----BEGIN CERTIFICATE-----"],
      [
        "PEM in base64",
        `client-key-data: ${Buffer.from("-----BEGIN EC PRIVATE KEY-----\nabcdefgh").toString("base64")}`,
      ],
      ["a bootstrap token", "kubeadm join --token abcdef.0123456789abcdez"],
      ["a service account's token", "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6.eyJhdWQiOls"],
      ["the key", "prefix c2VjcmV0LWJ5dGVz suffix"],
    ] as const)
      it(`${what}, by its kind alone`, () => {
        assert.deepEqual(found(text), [`log: ${what}`]);
        assert.ok(!found(text).join().includes(text));
      });

    it("and names of Events are none", () => assert.deepEqual(found("worker.18a2b3c4d5e6f708"), []));
  });

  it("as announced: the operations of a preview's lines, and no unknown line", () => {
    const steps = {
      "e2e-workers": [
        "w-2: join as worker of workers, wait until Ready",
        "w-1: cordon, drain, kubeadm reset, delete its Node",
      ],
    };
    const changes = [{ name: "e2e-w-2-prepare", operation: "create" }];
    assert.deepEqual(announcedOperations({ changes, steps }), [
      "w-1: reset",
      "w-2: join-worker",
      "w-2: prepare",
    ]);
    assert.throws(() => announcedOperations({ changes, steps: { x: ["w-1: dance"] } }), /dance/);
  });
});
