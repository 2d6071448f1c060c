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
    for (const url of ["https://k:5000", "https://k:5000/", "https://k:5000/v3/", "https://k:5000/v2.0"]) {
      write("here/clouds.yaml", entry("eu1", url));
      assert.equal((await read()).authUrl, "https://k:5000/v3");
    }
  });

  it("takes the secrets from the file of the variable, and not from beside another clouds.yaml", async () => {
    const auth = "{auth_url: https://k/v3, username: ops, project_name: web}";
    const OS_CLIENT_CONFIG_FILE = write("elsewhere/clouds.yaml", `clouds: {eu1: {auth: ${auth}}}`);
    const OS_CLIENT_SECURE_FILE = write("elsewhere/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    // the provider looks for it there no more than openstacksdk
    await assert.rejects(read({ OS_CLIENT_CONFIG_FILE }), /nor a user with a password/);
    assert.match(
      JSON.stringify((await read({ OS_CLIENT_CONFIG_FILE, OS_CLIENT_SECURE_FILE })).auth),
      /"password":"p"/,
    );
  });

  it("takes the secrets from secure.yaml in the same folders", async () => {
    write(
      "here/clouds.yaml",
      "clouds: {eu1: {auth: {auth_url: https://k/v3, username: ops, project_name: web}}}",
    );
    write("here/secure.yaml", "clouds: {eu1: {auth: {password: p}}}");
    const domain = { name: "Default" };
    assert.deepEqual((await read()).auth, {
      identity: { methods: ["password"], password: { user: { name: "ops", domain, password: "p" } } },
      scope: { project: { name: "web", domain } },
    });
  });

  const user = { name: "ops", domain: { name: "Default" } };
  const scopes: [what: string, fields: string, scope: object | undefined][] = [
    [
      "a project in its domain",
      "project_name: web, project_domain_id: d1",
      { project: { name: "web", domain: { id: "d1" } } },
    ],
    ["a project by id, rather than a domain", "project_id: 7, domain_name: acme", { project: { id: "7" } }],
    ["a domain by name", "domain_name: acme", { domain: { name: "acme" } }],
    ["no scope", "region: one", undefined],
  ];
  for (const [what, fields, scope] of scopes)
    it(`asks with a password for a token of ${what}`, async () => {
      const auth = `{auth_url: https://k/v3, username: ops, user_domain_name: Default, password: p, ${fields}}`;
      write("here/clouds.yaml", `clouds: {eu1: {auth: ${auth}}}`);
      assert.deepEqual(JSON.parse(JSON.stringify((await read()).auth)), {
        identity: { methods: ["password"], password: { user: { ...user, password: "p" } } },
        ...(scope ? { scope } : {}),
      });
    });

  it("asks with an application credential by name for its user", async () => {
    const auth =
      "{auth_url: https://k/v3, username: ops, application_credential_name: app, application_credential_secret: s}";
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
    const { authUrl, auth, region, interface: chosen } = await read(environment, {});
    assert.deepEqual([authUrl, region, chosen], ["https://k/v3", "two", "internal"]);
    assert.deepEqual(auth, {
      identity: {
        methods: ["application_credential"],
        application_credential: { id: "app", secret: "s" },
      },
    });
  });

  it("takes OS_CLOUD when the configuration names none, and the region of the configuration first", async () => {
    write("here/clouds.yaml", entry("eu2", "https://eu2/v3"));
    const { authUrl, region } = await read({ OS_CLOUD: "eu2", OS_REGION_NAME: "two" }, { region: "three" });
    assert.deepEqual([authUrl, region], ["https://eu2/v3", "three"]);
  });

  const issues: [what: string, text: string | undefined, words: RegExp][] = [
    ["there is no file", undefined, /there is no clouds\.yaml for the cloud "eu1"; looked for /],
    ["the entry is missing", entry("eu9", "https://k"), /has no entry "eu1"; it has eu9/],
    ["the file is not YAML", "clouds: {password: hunter2", /is not YAML: [^]*line 1/],
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

  const login = "auth_url: https://k/v3, username: ops, password: hunter2, project_name: web";
  const forms: [fields: string, words: RegExp, environment?: Record<string, string>][] = [
    [
      `auth_type: v3oidcpassword, auth: {${login}}`,
      /has `auth_type: v3oidcpassword`.*; write one of password, /,
    ],
    [`auth_type: v3token, auth: {${login}}`, /has `auth_type: v3token`/],
    [`auth: {${login}, identity_provider: keycloak}`, /has `auth.identity_provider`/],
    [`auth: {${login}, passcode: "123456"}`, /has `auth.passcode`/],
    [`auth_type: v3applicationcredential, auth: {${login}}`, /no auth.application_credential_secret/],
    [
      `auth_type: password, auth: {${login}, application_credential_id: a, application_credential_secret: s}`,
      /has an application credential and `auth_type: password`/,
    ],
    [`profile: vexxhost, auth: {${login}}`, /has `profile`: .* write the profile's values/],
    [`cert: c.pem, key: k.pem, auth: {${login}}`, /has `cert`/],
    [`compute_endpoint_override: "https://c", auth: {${login}}`, /has `compute_endpoint_override`/],
    [`network_interface: internal, auth: {${login}}`, /has `network_interface`/],
    [`identity_api_version: 2, auth: {${login}}`, /has `identity_api_version: 2`: write 3/],
    [`verify: "no", auth: {${login}}`, /has a `verify` that is not true or false/],
    [`insecure: true, auth: {${login}}`, /has `insecure`: write `verify: false`/],
    [`regions: [one, two], auth: {${login}}`, /has `regions` and no `region_name`: write `region`/],
    [
      `regions: [{name: one, values: {auth: {project_name: x}}}], auth: {${login}}`,
      /has `regions` with `values`/,
    ],
    [
      `region_name: one, auth: {${login}}`,
      /another region than OS_REGION_NAME \(two\)/,
      { OS_REGION_NAME: "two" },
    ],
    [`auth: {${login}}`, /the environment has OS_PROJECT_ID, /, { OS_PROJECT_ID: "7" }],
    [`cacert: a.pem, auth: {${login}}`, /another `cacert` than OS_CACERT/, { OS_CACERT: "b.pem" }],
  ];
  for (const [fields, words, environment] of forms)
    it(`refuses by name what it would read in another way than openstacksdk or the provider: ${fields.replace(/auth: \{auth_url.*hunter2/, "auth: {…")}`, async () => {
      write("here/clouds.yaml", `clouds: {eu1: {${fields}}}`);
      await assert.rejects(read(environment), (error: Error) => {
        assert.ok(error instanceof CloudConfigurationError, error.stack);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });

  const sameForms: [fields: string, environment?: Record<string, string>][] = [
    [`auth_type: v3password, identity_api_version: "3", auth: {${login}}`],
    [`regions: [one, two], region_name: two, auth: {${login}}`],
    [`compute_api_version: "2", auth: {${login}}`],
    [`auth: {${login}}`, { OS_USERNAME: "ops", OS_PASSWORD: "hunter2", OS_PROJECT_ID: "" }],
  ];
  for (const [fields, environment] of sameForms)
    it(`reads what all read in the same way: ${fields.replace("hunter2", "…")}`, async () => {
      write("here/clouds.yaml", `clouds: {eu1: {${fields}}}`);
      assert.equal((await read(environment)).authUrl, "https://k/v3");
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
