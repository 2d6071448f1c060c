import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readCloudConfiguration } from "../../../../providers/openstack/client/cloud-configuration";
import { CloudConfigurationError } from "../../../../providers/openstack/client/errors";

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
    for (const url of ["https://k:5000", "https://k:5000/", "https://k:5000/v3/"]) {
      write("here/clouds.yaml", entry("eu1", url));
      assert.equal((await read()).authUrl, "https://k:5000/v3");
    }
  });

  it("refuses secrets in the file of a variable that the provider does not read, and none beside another clouds.yaml", async () => {
    const auth = "{auth_url: https://k/v3, user_id: ops, project_id: web}";
    const OS_CLIENT_CONFIG_FILE = write("elsewhere/clouds.yaml", `clouds: {eu1: {auth: ${auth}}}`);
    const OS_CLIENT_SECURE_FILE = write("elsewhere/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    await assert.rejects(read({ OS_CLIENT_CONFIG_FILE }), /nor a user with a password/);
    await assert.rejects(
      read({ OS_CLIENT_CONFIG_FILE, OS_CLIENT_SECURE_FILE }),
      /OS_CLIENT_SECURE_FILE .*move the file to .*home\/\.config\/openstack\/secure\.yaml/,
    );
    write("here/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    assert.match(
      JSON.stringify((await read({ OS_CLIENT_CONFIG_FILE, OS_CLIENT_SECURE_FILE })).auth),
      /"password":"p"/,
    );
  });

  it("reads the files that openstacksdk and the provider both find first, and refuses others", async () => {
    write("home/.config/openstack/clouds.yml", entry("eu1", "https://home/v3"));
    assert.equal((await read()).authUrl, "https://home/v3");
    write("home/.config/openstack/clouds.yaml", entry("eu1", "https://home/v3"));
    write("here/clouds.yml", entry("eu1", "https://here/v3"));
    await assert.rejects(
      read(),
      /reads .*here\/clouds\.yml, and Pulumi's OpenStack provider .*home.*clouds\.yaml/,
    );
    rmSync(path.join(folder, "here/clouds.yml"));
    write("xdg/openstack/clouds.yaml", entry("eu1", "https://xdg/v3"));
    await assert.rejects(read({ XDG_CONFIG_HOME: path.join(folder, "xdg") }), /xdg\/openstack\/clouds\.yaml/);
  });

  it("takes the secrets from secure.yaml in the same folders", async () => {
    write(
      "here/clouds.yaml",
      "clouds: {eu1: {auth: {auth_url: https://k/v3, username: ops, project_name: web, domain_name: Default}}}",
    );
    write("here/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    const domain = { name: "Default" };
    assert.deepEqual((await read()).auth, {
      identity: { methods: ["password"], password: { user: { name: "ops", domain, password: "p" } } },
      scope: { project: { name: "web", domain } },
    });
  });

  it("takes no secrets from another folder when the first secure.yaml has none", async () => {
    const login = "auth_url: https://k/v3, user_id: ops, project_id: web";
    write("here/clouds.yaml", `clouds: {eu1: {auth: {${login}}}}`);
    write("home/.config/openstack/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    assert.match(JSON.stringify((await read()).auth), /"password":"p"/);
    for (const text of ["", "# none yet\n", "clouds:\n"]) {
      write("here/secure.yaml", text);
      await assert.rejects(read(), /nor a user with a password/, text);
    }
  });

  const user = { name: "ops", domain: { name: "Default" } };
  const scopes: [what: string, fields: string, scope: object | undefined][] = [
    [
      "a project in its domain",
      "password: p, project_name: web, project_domain_id: d1",
      { project: { name: "web", domain: { id: "d1" } } },
    ],
    [
      "a project by id, whose domain is not needed",
      "password: p, project_id: 7, project_domain_name: acme",
      { project: { id: "7" } },
    ],
    ["a domain by name", "password: p, domain_name: acme", { domain: { name: "acme" } }],
    ["no scope", "password: p", undefined],
  ];
  for (const [what, fields, scope] of scopes)
    it(`asks with a password for a token of ${what}`, async () => {
      const auth = `{auth_url: https://k/v3, username: ops, user_domain_name: Default, ${fields}}`;
      write("here/clouds.yaml", `clouds: {eu1: {auth: ${auth}}}`);
      assert.deepEqual(JSON.parse(JSON.stringify((await read()).auth)), {
        identity: { methods: ["password"], password: { user: { ...user, password: "p" } } },
        ...(scope ? { scope } : {}),
      });
    });

  it("asks with an application credential by name for its user", async () => {
    const auth =
      "{auth_url: https://k/v3, username: ops, user_domain_name: Default, application_credential_name: app, application_credential_secret: s}";
    write("here/clouds.yaml", `clouds: {eu1: {auth: ${auth}}}`);
    assert.deepEqual((await read()).auth, {
      identity: {
        methods: ["application_credential"],
        application_credential: { name: "app", user, secret: "s" },
      },
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
    const { authUrl, auth, cloud, region, interface: chosen } = await read(environment, {});
    assert.deepEqual([authUrl, cloud, region, chosen], ["https://k/v3", undefined, "two", "internal"]);
    assert.deepEqual(auth, {
      identity: {
        methods: ["application_credential"],
        application_credential: { id: "app", secret: "s" },
      },
    });
  });

  it("takes OS_CLOUD when the configuration names none, and the region of the configuration first", async () => {
    write("here/clouds.yaml", entry("eu2", "https://eu2/v3"));
    const environment = { OS_CLOUD: "eu2", OS_REGION_NAME: "two" };
    const { authUrl, cloud, region, entryRegion } = await read(environment, { region: "three" });
    assert.deepEqual([authUrl, cloud, region, entryRegion], ["https://eu2/v3", "eu2", "three", "one"]);
  });

  const issues: [what: string, text: string | undefined, words: RegExp][] = [
    ["there is no file", undefined, /there is no clouds\.yaml for the cloud "eu1"; looked for /],
    ["the entry is missing", entry("eu9", "https://k"), /has no entry "eu1"; it has eu9/],
    ["the file is not YAML", "clouds: {password: hunter2", /is not YAML: [^]*line 1/],
    [
      "there is no address",
      "clouds: {eu1: {auth: {user_id: x}}}",
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
      /"outer" is not an interface/,
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

  it("refuses a type of login that it does not read in an environment without an entry, too", async () => {
    const variables = { OS_AUTH_URL: "https://k/v3", OS_USERNAME: "ops", OS_PASSWORD: "hunter2" };
    await assert.rejects(read({ ...variables, OS_AUTH_TYPE: "v3oidcpassword" }, {}), (error: Error) => {
      assert.ok(error instanceof CloudConfigurationError, error.stack);
      assert.match(error.message, /auth_type/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  });
});
