import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CloudConfigurationError, readCloudConfiguration } from "../../../../providers/openstack/client";

describe("how a cloud is found", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-clouds-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const entry = (name: string, url: string) => `clouds:
  ${name}:
    auth: {auth_url: ${url}, application_credential_id: app, application_credential_secret: s}
    region_name: one
`;
  const write = (file: string, text: string) => {
    const ref = path.join(folder, file);
    mkdirSync(path.dirname(ref), { recursive: true });
    writeFileSync(ref, text);
    return ref;
  };
  const read = (
    environment: Record<string, string> = {},
    desired: { cloud?: string; region?: string } = { cloud: "eu1" },
  ) =>
    readCloudConfiguration(
      desired,
      { HOME: path.join(folder, "home"), ...environment },
      path.join(folder, "here"),
    );

  it("looks in the file of the variable, in this folder, and in the home folder", async () => {
    write("home/.config/openstack/clouds.yaml", entry("eu1", "https://home/v3"));
    assert.equal((await read()).authUrl, "https://home/v3");
    write("here/clouds.yaml", entry("eu1", "https://here/v3"));
    assert.equal((await read()).authUrl, "https://here/v3");
    const other = write("other.yaml", entry("eu1", "https://other/v3"));
    assert.equal((await read({ OS_CLIENT_CONFIG_FILE: other })).authUrl, "https://other/v3");
  });

  it("adds the version to Keystone's address", async () => {
    for (const url of ["https://k:5000", "https://k:5000/", "https://k:5000/v3/", "https://k:5000/v2.0"]) {
      write("here/clouds.yaml", entry("eu1", url));
      assert.equal((await read()).authUrl, "https://k:5000/v3");
    }
  });

  it("takes the secrets from secure.yaml beside it", async () => {
    write(
      "here/clouds.yaml",
      "clouds: {eu1: {auth: {auth_url: https://k/v3, username: ops, project_name: web}}}",
    );
    write("here/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    assert.deepEqual((await read()).credentials, {
      kind: "password",
      user: { name: "ops", domain: { name: "Default" } },
      password: "p",
      project: { name: "web", domain: { name: "Default" } },
    });
  });

  it("takes the environment when no cloud is named", async () => {
    const environment = {
      OS_AUTH_URL: "https://k/v3",
      OS_APPLICATION_CREDENTIAL_ID: "app",
      OS_APPLICATION_CREDENTIAL_SECRET: "s",
      OS_REGION_NAME: "two",
      OS_INTERFACE: "internal",
    };
    const { authUrl, credentials, region, interface: chosen } = await read(environment, {});
    assert.deepEqual(
      [authUrl, credentials.kind, region, chosen],
      ["https://k/v3", "application-credential", "two", "internal"],
    );
  });

  it("takes OS_CLOUD when the configuration names none, and the region of the configuration first", async () => {
    write("here/clouds.yaml", entry("eu2", "https://eu2/v3"));
    const { authUrl, region } = await read({ OS_CLOUD: "eu2", OS_REGION_NAME: "two" }, { region: "three" });
    assert.deepEqual([authUrl, region], ["https://eu2/v3", "three"]);
  });

  const issues: [what: string, text: string | undefined, words: RegExp][] = [
    ["there is no file", undefined, /there is no clouds\.yaml for the cloud "eu1"; looked for /],
    ["the entry is missing", entry("eu9", "https://k"), /has no entry "eu1"; it has eu9/],
    ["the file is no YAML", "clouds: {password: hunter2", /is no YAML$/],
    [
      "there is no address",
      "clouds: {eu1: {auth: {username: x}}}",
      /"eu1" of clouds\.yaml has no auth\.auth_url/,
    ],
    [
      "there are no credentials",
      "clouds: {eu1: {auth: {auth_url: https://k}}}",
      /neither an application credential/,
    ],
    [
      "the interface is none",
      entry("eu1", "https://k") + "    interface: outer\n",
      /"outer" is no interface/,
    ],
  ];
  for (const [what, text, words] of issues)
    it(`says when ${what}`, async () => {
      if (text !== undefined) write("here/clouds.yaml", text);
      await assert.rejects(read(), (error: Error) => {
        assert.ok(error instanceof CloudConfigurationError);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });
});
