import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { findStateFolder, NotAFileBackendError } from "../../../cli/killed-runs";

describe("the folder of the backend in use", () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(path.join(tmpdir(), "foresail-home-"))));
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const find = (backend?: string) =>
    findStateFolder("dev", {
      PULUMI_HOME: home,
      ...(backend === undefined ? {} : { PULUMI_BACKEND_URL: backend }),
    });

  const rows: [string, string][] = [
    ["file:///var/state", "/var/state"],
    ["file:///with%20space", "/with space"],
    ["file://~", homedir()],
    ["file://~/state", path.join(homedir(), "state")],
    ["file://./state", path.resolve("state")],
  ];
  for (const [backend, folder] of rows) {
    it(`is found for ${backend}`, async () => assert.equal(await find(backend), folder));
  }

  it("is that of the last login without a variable", async () => {
    writeFileSync(path.join(home, "credentials.json"), JSON.stringify({ current: "file:///from/login" }));
    assert.equal(await find(), "/from/login");
  });

  it("is undefined for a remote backend, and the error says what clears locks there", async () => {
    await assert.rejects(find("s3://bucket"), NotAFileBackendError);
    await assert.rejects(
      find("https://pulumi.example"),
      /not a folder; its locks are cleared with: pulumi cancel dev/,
    );
    await assert.rejects(find(), /no backend is logged in to/);
  });
});
