import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { acceptedKubeconfig, FetchedKubeconfig, KubeconfigRefused } from "../../../../lib/kubernetes";
import { readEndpoints } from "../../../../lib/kubernetes/kubeconfig";
import { TestAuthority } from "../../../support/certificates";

const SECRET = "hidden-value";
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a fetched kubeconfig", () => {
  let folder: string;
  let authority: string;
  let own: { "client-certificate-data": string; "client-key-data": string };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "foresail-kubeconfig-"));
    const issuer = new TestAuthority(folder);
    const { certificate, key } = issuer.issue("admin", "/CN=admin", ["IP:127.0.0.1"]);
    authority = base64(issuer.own.certificate);
    own = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
  });
  after(() => rmSync(folder, { recursive: true }));

  const written = (user: object, cluster: object = {}) => ({
    clusters: [
      {
        name: "c",
        cluster: { server: "https://10.0.0.1:6443", "certificate-authority-data": authority, ...cluster },
      },
    ],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
  const read = (text: string) =>
    readEndpoints({ kubeconfig: new FetchedKubeconfig("Secret demo/a-kubeconfig", text) });
  const refusalOf = async (text: string): Promise<string> => {
    try {
      await read(text);
    } catch (error) {
      assert.ok(error instanceof KubeconfigRefused, String(error));
      assert.match(error.message, /^Secret demo\/a-kubeconfig has a kubeconfig that is refused: /);
      assert.equal(error.message.includes(SECRET), false, error.message);
      return error.message;
    }
    return assert.fail("it was accepted");
  };

  it("is accepted with inline certificates and tokens, and always verified", async () => {
    const [certificates] = await read(stringify(written(own)));
    assert.equal(certificates?.server, "https://10.0.0.1:6443/");
    assert.equal(certificates.tls.rejectUnauthorized, true);
    assert.ok(certificates.tls.key && certificates.tls.cert && certificates.tls.ca);
    const [token] = await read(stringify(written({ token: "t", exec: null, tokenFile: "" })));
    assert.deepEqual(token?.headers, { Authorization: "Bearer t" });
    const wrapped = { "certificate-authority-data": authority.replace(/.{64}/g, "$&\n") };
    const [named] = await read(stringify(written(own, { ...wrapped, "tls-server-name": "kubernetes" })));
    assert.equal(named?.tls.servername, "kubernetes");
    const [systemTrust] = await read(stringify(written(own, { "certificate-authority-data": undefined })));
    assert.equal(systemTrust?.tls.ca, undefined);
    assert.equal(systemTrust?.tls.rejectUnauthorized, true);
  });

  const users: [field: string, value: unknown][] = [
    ["exec", { command: SECRET }],
    ["auth-provider", { name: "oidc", config: { "id-token": SECRET } }],
    ["tokenFile", SECRET],
    ["client-certificate", SECRET],
    ["client-key", SECRET],
    ["as", SECRET],
    ["as-uid", SECRET],
    ["as-groups", [SECRET]],
    ["as-user-extra", { a: [SECRET] }],
    ["token", `${SECRET}\nX-Other: 1`],
    ["token", { of: SECRET }],
    ["username", SECRET],
    ["password", SECRET],
    ["password", { of: SECRET }],
    ["client-key-data", `-----BEGIN ${SECRET}`],
  ];
  for (const [field, value] of users)
    it(`is refused for ${field} ${JSON.stringify(value)} of the user, by its path alone`, async () => {
      assert.ok(
        (await refusalOf(stringify(written({ token: "t", [field]: value })))).includes(
          `users[0].user.${field} `,
        ),
      );
    });

  const clusters: [field: string, value: unknown][] = [
    ["certificate-authority", SECRET],
    ["insecure-skip-tls-verify", true],
    ["insecure-skip-tls-verify", "false"],
    ["proxy-url", `http://${SECRET}`],
    ["server", `http://${SECRET}`],
    ["server", SECRET],
    ["server", `https://me:${SECRET}@10.0.0.1`],
    ["server", `https://10.0.0.1/?${SECRET}`],
    ["server", `https://10.0.0.1/\n${SECRET}`],
    ["certificate-authority-data", `{${SECRET}}`],
    ["tls-server-name", { of: SECRET }],
  ];
  for (const [field, value] of clusters)
    it(`is refused for ${field} ${JSON.stringify(value)} of the cluster, by its path alone`, async () => {
      assert.ok(
        (await refusalOf(stringify(written(own, { [field]: value })))).includes(
          `clusters[0].cluster.${field} `,
        ),
      );
    });

  it("is passed on with its accepted fields alone, in an entry for each context", () => {
    const config = {
      ...written({ token: "t", exec: null, Exec: { command: SECRET } }),
      extensions: [SECRET],
    };
    const text = stringify(config).replace("token: t", `token: t\n      <<: {exec: {command: ${SECRET}}}`);
    const passedOn = acceptedKubeconfig(new FetchedKubeconfig("Secret demo/a-kubeconfig", text));
    assert.deepEqual(parse(passedOn), {
      apiVersion: "v1",
      kind: "Config",
      ...written({ token: "t" }),
      clusters: [{ ...written({}).clusters[0], name: "x" }],
      users: [{ name: "x", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    });
  });

  it("is passed on by no means when a field is refused", () => {
    const config = stringify(written({ token: "t", exec: { command: SECRET } }));
    const passOn = () => acceptedKubeconfig(new FetchedKubeconfig("Secret demo/a-kubeconfig", config));
    assert.throws(passOn, KubeconfigRefused);
  });

  it("is refused when any of its contexts is refused", async () => {
    const config = written(own);
    config.users.push({ name: "other", user: { exec: { command: SECRET } } });
    config.contexts.push({ name: "y", context: { cluster: "c", user: "other" } });
    assert.match(await refusalOf(stringify(config)), /users\[1\]\.user\.exec/);
  });

  it("is refused without its content when it is large, no kubeconfig, or has aliases, and prints no warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const texts: [text: string, why: RegExp][] = [
      [`${stringify(written(own))}# ${SECRET.repeat(30_000)}`, /larger than 256 KiB/],
      [SECRET, /has no clusters/],
      [`a: [${SECRET}`, /is not YAML/],
      [`clusters: &a [${SECRET}]\nusers: *a\ncontexts: *a`, /too many aliases/],
      [`clusters: !${SECRET} x`, /has no context/],
      [stringify({ ...written(own), users: "none" }), /context "x" has no user/],
      [
        stringify({ ...written(own), clusters: [{ name: "c", cluster: { server: 5 } }] }),
        /no cluster with a server/,
      ],
      [
        stringify(written({ ...own, "client-key-data": base64(SECRET) })),
        /the certificates or the key of clusters\[0\]\.cluster and users\[0\]\.user can't be read/,
      ],
    ];
    for (const [text, why] of texts) assert.match(await refusalOf(text), why);
    await new Promise(setImmediate);
    process.off("warning", onWarning);
    assert.deepEqual(warnings, []);
  });

  it("is undefined while its Secret has no kubeconfig", () => {
    const ref = { namespace: "demo", name: "a-kubeconfig" };
    assert.equal(FetchedKubeconfig.inSecret(ref, undefined), undefined);
    assert.equal(FetchedKubeconfig.inSecret(ref, { data: {} }), undefined);
    assert.equal(FetchedKubeconfig.inSecret(ref, { data: { value: base64("a: b") } })?.text, "a: b");
  });
});
