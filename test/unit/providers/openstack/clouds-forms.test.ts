import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readCloudConfiguration } from "../../../../providers/openstack/client/cloud-configuration";
import { CloudConfigurationError } from "../../../../providers/openstack/client/errors";

const USER = "auth_url: https://k/v3, username: ops, password: hunter2, user_domain_name: Default";
const LOGIN = `${USER}, project_name: web, project_domain_name: Default`;
const WITHOUT_DOMAIN = "auth_url: https://k/v3, username: ops, password: hunter2";
const CREDENTIAL =
  "auth_url: https://k/v3, application_credential_id: a, application_credential_secret: hunter2";

type Variables = Record<string, string>;

describe("a form of clouds.yaml", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-forms-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const read = (fields: string, environment: Variables = {}, region?: string) => {
    writeFileSync(path.join(folder, "clouds.yaml"), `clouds: {eu1: {${fields}}}`);
    return readCloudConfiguration(
      { cloud: "eu1", ...(region === undefined ? {} : { region }) },
      { HOME: folder, ...environment },
      folder,
    );
  };
  const shown = (fields: string, environment: Variables = {}) =>
    [fields.replaceAll("hunter2", "…"), ...Object.keys(environment)].join(", with ");

  const refused: [fields: string, words: RegExp, environment?: Variables, region?: string][] = [
    // other ways to log in
    [
      `auth_type: v3oidcpassword, auth: {${LOGIN}}`,
      /has `auth_type: v3oidcpassword`.*; write one of password, /,
    ],
    [`auth_type: v3oidcclientcredentials, auth: {${LOGIN}}`, /has `auth_type: v3oidcclientcredentials`/],
    [`auth_type: v3token, auth: {${LOGIN}}`, /has `auth_type: v3token`/],
    [`auth_type: v3multifactor, auth: {${LOGIN}}`, /has `auth_type: v3multifactor`/],
    [`auth_type: v3totp, auth: {${LOGIN}}`, /has `auth_type: v3totp`/],
    [`auth_type: V3Password, auth: {${LOGIN}}`, /has `auth_type: V3Password`/],
    [`auth_type: none, auth: {endpoint: https://c}`, /has `auth_type: none`/],
    [`auth: {${LOGIN}, token: hunter2}`, /has `auth.token`/],
    [`auth: {${LOGIN}, identity_provider: keycloak}`, /has `auth.identity_provider`/],
    [`auth: {${LOGIN}, passcode: "123456"}`, /has `auth.passcode`/],
    [`auth: {${USER}, system_scope: all}`, /has `auth.system_scope`/],
    [`auth: {${USER}, trust_id: t}`, /has `auth.trust_id`/],
    [`auth_type: v3applicationcredential, auth: {${LOGIN}}`, /no auth.application_credential_secret/],
    [`auth_type: password, auth: {${CREDENTIAL}}`, /an application credential and `auth_type: password`/],
    [`auth: {${CREDENTIAL}, password: hunter2}`, /an application credential and `auth.password`/],
    [`auth: {${LOGIN}, application_credential_id: a}`, /no `auth.application_credential_secret`/],
    // fields of auth
    [`auth: {${USER}, tenant_name: web}`, /`auth.tenant_name`, .*: write `project_name`/],
    [`auth: {${USER}, tenant_id: "7"}`, /`auth.tenant_id`, .*: write `project_id`/],
    [`auth: {${USER}, project-name: web}`, /`auth.project-name`, .*: write `project_name`/],
    [
      `auth: {${WITHOUT_DOMAIN}, default_domain_name: d}`,
      /`auth.default_domain_name`, .*: write `user_domain_name`/,
    ],
    [
      `auth: {${LOGIN}, projct_id: "7"}`,
      /`auth.projct_id`, which is not a field of this login; it has auth_url, /,
    ],
    [`auth: {${WITHOUT_DOMAIN}, project_name: web}`, /`auth.username` without its domain/],
    [`auth: {${WITHOUT_DOMAIN}, domain_name: d}`, /`auth.username` without its domain/],
    [`auth: {${USER}, project_name: web}`, /`auth.project_name` without its domain/],
    [`auth: {${LOGIN}, user_id: "7"}`, /`auth.username` and `auth.user_id`/],
    [`auth: {${LOGIN}, user_domain_id: d}`, /the domain of the user by id and by name/],
    [
      "auth: {auth_url: https://k/v3, user_id: ops, user_domain_name: d, password: hunter2, project_id: web}",
      /`auth.user_id` and the user's domain/,
    ],
    [`auth: {${LOGIN.replace("https://k/v3", "'https://{host}/v3'")}}`, /`auth.auth_url` with braces/],
    [`auth: {${LOGIN.replace("/v3", "/v2.0")}}`, /`auth.auth_url` of Keystone's version 2/],
    ["auth: {auth_url: https://k/v3, user_id: ops, password: 0123, project_id: web}", /line 1: .*in quotes/],
    ["auth: {auth_url: https://k/v3, user_id: ops, password: yes, project_id: web}", /line 1: .*in quotes/],
    ["auth: {auth_url: https://k/v3, user_id: ops, password: true, project_id: web}", /line 1: .*in quotes/],
    [`auth: {${USER}, project_id: 12345678901234567890123}`, /line 1: .*in quotes/],
    [`x: &a {${USER}, project_id: 0123}, auth: *a`, /line 1: .*in quotes/],
    // fields beside auth
    [`username: ops, auth: {${LOGIN}}`, /has `username` beside `auth`/],
    [`project_name: web, auth: {${USER}}`, /`auth.project_name`|has `project_name` beside `auth`/],
    [`default_domain_id: d, auth: {${LOGIN}}`, /has `default_domain_id`: write the domains under `auth`/],
    [`profile: vexxhost, auth: {${LOGIN}}`, /has `profile`: .* write the profile's values/],
    [`cloud: vexxhost, auth: {${LOGIN}}`, /has `cloud`: .* write the profile's values/],
    [`cert: c.pem, key: k.pem, auth: {${LOGIN}}`, /has `cert`/],
    [`compute_endpoint_override: "https://c", auth: {${LOGIN}}`, /has `compute_endpoint_override`/],
    [`network_interface: internal, auth: {${LOGIN}}`, /has `network_interface`/],
    [`region-name: one, auth: {${LOGIN}}`, /has `region-name`: write `region_name`/],
    [`network-interface: internal, auth: {${LOGIN}}`, /has `network-interface`: foresail finds services/],
    [`interface: [internal, public], auth: {${LOGIN}}`, /an `interface` that is not text/],
    [`interface: outer, auth: {${LOGIN}}`, /"outer" is not an interface/],
    [`identity_api_version: 2, auth: {${LOGIN}}`, /has `identity_api_version: 2`: write 3/],
    [`identity_api_version: v3, auth: {${LOGIN}}`, /has `identity_api_version: v3`: write 3/],
    [`verify: "no", auth: {${LOGIN}}`, /has a `verify` that is not true or false/],
    [`insecure: true, auth: {${LOGIN}}`, /has `insecure`: write `verify: false`/],
    [`regions: [one, two], auth: {${LOGIN}}`, /openstacksdk takes the first: write `region`/],
    [
      `regions: [one, two], region_name: two, auth: {${LOGIN}}`,
      /openstacksdk takes the first: write `region`/,
    ],
    [`regions: [one, two], auth: {${LOGIN}}`, /has no region "three"; it has one, two/, {}, "three"],
    [
      `regions: [{name: one, values: {auth: {project_id: x}}}], auth: {${LOGIN}}`,
      /has `regions` with `values`/,
    ],
    // variables
    [
      `region_name: one, auth: {${LOGIN}}`,
      /another region than OS_REGION_NAME \(two\)/,
      { OS_REGION_NAME: "two" },
    ],
    [`auth: {${LOGIN}}`, /the environment has OS_PROJECT_ID, /, { OS_PROJECT_ID: "7" }],
    [`auth: {${LOGIN}}`, /the environment has OS_AUTH_TOKEN, /, { OS_AUTH_TOKEN: "hunter2" }],
    [`auth: {${LOGIN}}`, /the environment has OS_CERT/, { OS_CERT: "c.pem" }],
    [`auth: {${LOGIN}}`, /OS_IDENTITY_API_VERSION=2: write 3/, { OS_IDENTITY_API_VERSION: "2" }],
    [`auth: {${LOGIN}}`, /has OS_ENDPOINT_TYPE \(internal\)/, { OS_ENDPOINT_TYPE: "internal" }],
    [`verify: true, auth: {${LOGIN}}`, /another `verify` than OS_INSECURE/, { OS_INSECURE: "true" }],
    [`verify: false, auth: {${LOGIN}}`, /another `verify` than OS_INSECURE/, { OS_INSECURE: "false" }],
    [`cacert: a.pem, auth: {${LOGIN}}`, /another `cacert` than OS_CACERT/, { OS_CACERT: "b.pem" }],
  ];
  for (const [fields, words, environment, region] of refused)
    it(`is refused by name where openstacksdk and the provider differ: ${shown(fields, environment)}`, async () => {
      await assert.rejects(read(fields, environment, region), (error: Error) => {
        assert.ok(error instanceof CloudConfigurationError, error.stack);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    });

  const elsewhere = [
    "x: &all {eu1: {auth: {AUTH}}}\nclouds: *all",
    "x: &all {eu1: {auth: {AUTH}}}\nclouds: {<<: *all}",
    "x: &all {eu1: {auth: {AUTH}}}\nclouds: {<<: [{eu2: {}}, *all]}",
    "x: &one {auth: {AUTH}}\nclouds: {eu1: *one}",
    "x: &root {clouds: {eu1: {auth: {AUTH}}}}\n<<: *root",
  ];
  for (const text of elsewhere)
    it(`is refused for what programs read in different ways, also in ${JSON.stringify(text)}`, async () => {
      const readWith = (project: string) => {
        const auth = `${LOGIN.replace(/, project_name: \w+/, "")}, project_name: ${project}`;
        writeFileSync(path.join(folder, "clouds.yaml"), text.replace("AUTH", auth));
        return readCloudConfiguration({ cloud: "eu1" }, { HOME: folder }, folder);
      };
      await readWith('"0755"');
      await assert.rejects(readWith("0755"), /write it in quotes/);
    });

  const named = (name: string) => ({ name, domain: { name: "Default" } });
  const own = (user: object, scope?: object) => ({
    identity: { methods: ["password"], password: { user: { ...user, password: "hunter2" } } },
    ...(scope ? { scope } : {}),
  });
  const plain = own(named("ops"), { project: named("web") });
  const byId = { name: "ops", domain: { id: "d" } };
  const credential = (fields: object) => ({
    identity: {
      methods: ["application_credential"],
      application_credential: { ...fields, secret: "hunter2" },
    },
  });
  // what openstacksdk 4.22 and keystoneauth1 5.18 send for the same entry
  const taken: [fields: string, auth: object, others?: object, environment?: Variables][] = [
    [`auth: {${LOGIN}}`, plain, { interface: "public", verify: true }],
    [`auth_type: v3password, identity_api_version: "3", auth: {${LOGIN}}`, plain],
    [
      `auth: {${WITHOUT_DOMAIN}, project_name: web, domain_id: d}`,
      own(byId, { project: { name: "web", domain: { id: "d" } } }),
    ],
    [`auth: {${USER}, domain_name: acme}`, own(named("ops"), { domain: { name: "acme" } })],
    [`auth: {${USER}, project_id: 12345}`, own(named("ops"), { project: { id: "12345" } })],
    [`auth: {${LOGIN}, project_id: "7"}`, own(named("ops"), { project: { id: "7" } })],
    [`auth_type: v3applicationcredential, auth: {${CREDENTIAL}}`, credential({ id: "a" })],
    [
      `auth_type: v3applicationcredential, auth: {auth_url: https://k/v3, username: ops, user_domain_name: Default, application_credential_name: a, application_credential_secret: hunter2}`,
      credential({ name: "a", user: named("ops") }),
    ],
    [`interface: internal, auth: {${LOGIN}}`, plain, { interface: "internal" }],
    [`endpoint_type: internalURL, interface: admin, auth: {${LOGIN}}`, plain, { interface: "internal" }],
    [`auth: {${LOGIN}}`, plain, { interface: "public" }, { OS_INTERFACE: "internal" }],
    [`regions: [one, two], region_name: one, auth: {${LOGIN}}`, plain, { region: "one" }],
    [`<<: {region_name: one}, auth: {${LOGIN}}`, plain, { region: "one" }],
    [`verify: false, auth: {${LOGIN}}`, plain, { verify: false }],
    // what neither foresail nor Pulumi's provider asks for
    [`networks: [{name: public, routes_externally: true}], auth: {${LOGIN}}`, plain],
    [`external_network: public, internal_network: own, auth: {${LOGIN}}`, plain],
    [`floating-ip-source: None, image-format: raw, auth: {${LOGIN}}`, plain],
    [`compute_api_version: "2", api_timeout: 5.0, auth: {${LOGIN}}`, plain],
    [`auth: {${LOGIN}}`, plain, {}, { OS_USERNAME: "ops", OS_PASSWORD: "hunter2", OS_PROJECT_ID: "" }],
    // the provider adds only what the entry does not have
    [`auth: {${LOGIN}}`, plain, {}, { OS_USERNAME: "bob", OS_PASSWORD: "other", OS_PROJECT_NAME: "b" }],
    [`auth: {${LOGIN}}`, plain, {}, { OS_TENANT_NAME: "web" }],
    [
      `interface: internal, auth: {${LOGIN}}`,
      plain,
      { interface: "internal" },
      { OS_ENDPOINT_TYPE: "internalURL" },
    ],
    [`insecure: false, auth: {${LOGIN}}`, plain, { verify: true }],
    // entries of other clouds are others' business
    [`auth: {${LOGIN}}}, other: {auth: {username: 0123}`, plain],
  ];
  for (const [fields, auth, others = {}, environment] of taken)
    it(`is read as openstacksdk reads it: ${shown(fields, environment)}`, async () => {
      const found = await read(fields, environment);
      assert.deepEqual(JSON.parse(JSON.stringify(found.auth)), auth);
      assert.deepEqual({ ...found, authUrl: "https://k/v3", ...others }, found);
    });
});
