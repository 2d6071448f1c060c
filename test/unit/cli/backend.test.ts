import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { findBackend } from "../../../cli/engine/backend";

describe("the backend in use", () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(path.join(tmpdir(), "foresail-home-"))));
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const find = (backend?: string) =>
    findBackend(home, {
      PULUMI_HOME: home,
      ...(backend === undefined ? {} : { PULUMI_BACKEND_URL: backend }),
    });
  const logIn = (current: string) =>
    writeFileSync(path.join(home, "credentials.json"), JSON.stringify({ current }));

  const folders: [string, () => string][] = [
    ["file:///var/state", () => "/var/state"],
    ["file:///with%20space", () => "/with space"],
    ["file://~", homedir],
    ["file://~/state", () => path.join(homedir(), "state")],
    ["file://./state", () => path.join(home, "state")],
  ];
  for (const [backend, folder] of folders)
    it(`is the folder of ${backend}`, async () =>
      assert.deepEqual(await find(backend), { kind: "folder", folder: folder() }));

  for (const url of [
    "postgres://ops@db.example.com/state",
    "postgres://",
    "s3://bucket?region=eu-west-1",
    "gs://bucket",
    "azblob://container",
  ])
    it(`is remote for ${url}`, async () => assert.deepEqual(await find(url), { kind: "remote" }));

  it("is a service for everything else, and without a login", async () => {
    const url = "https://api.pulumi.com";
    assert.deepEqual(await find(url), { kind: "service", url });
    assert.deepEqual(await find(), { kind: "service", url: undefined });
  });

  it("is that of the last login without a variable", async () => {
    logIn("file:///from/login");
    assert.deepEqual(await find(), { kind: "folder", folder: "/from/login" });
  });

  it("is that of Pulumi.yaml before that of the last login", async () => {
    logIn("file:///from/login");
    writeFileSync(path.join(home, "Pulumi.yaml"), "name: x\nbackend: {url: s3://bucket}\n");
    assert.deepEqual(await find(), { kind: "remote" });
    assert.deepEqual(await find("file:///v"), { kind: "folder", folder: "/v" });
  });
});
