import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { generateKey } from "../../../../lib/ssh/generated-key";
import { loadConfiguration } from "../../../../stacks/schema";
import { issuesOf } from "./issues";
import { cluster, HOST_KEY, reader } from "./valid";

const pem = (options: { cipher?: string; passphrase?: string } = {}) =>
  generateKeyPairSync("ed25519", {
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem", ...options },
  }).privateKey;

/** An RSA key in the older PEM format. */
const rsa = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "pkcs1", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  }).privateKey;

/** A text without some of its lines, as a careless copy has it. */
const without = (text: string, from: number, count: number) => {
  const lines = text.trimEnd().split("\n");
  lines.splice(from, count);
  return lines.join("\n");
};

const PKCS8 =
  "is in PKCS#8 format, which the SSH client does not read; write it in OpenSSH's own with: ssh-keygen -p -f FILE";
const CUT =
  "can't be read by the SSH client: it was cut or changed; give the whole file again, as `ssh-keygen` wrote it";

/** The frame of an OpenSSH private key as far as its cipher. */
function openssh(cipher: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(cipher.length);
  const body = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    length,
    Buffer.from(cipher),
    Buffer.alloc(60),
  ]);
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

const LOCKED =
  "is protected by a passphrase, which can't be typed here; use the SSH agent, or a key without passphrase";

describe("configuration: secrets", () => {
  it("returns keys and credentials as secret outputs", async () => {
    const key = generateKey().private;
    const credentials = { "registry.example.com:5000": { username: "u", password: "p" } };
    const loaded = loadConfiguration(
      reader(cluster(), {
        "foresail:sshPrivateKey": key,
        "foresail:sshPrivateKeys": JSON.stringify({ "cp-1": rsa(), jumpHost: generateKey().private }),
        "foresail:registryCredentials": JSON.stringify(credentials),
      }),
    );
    assert.ok(loaded.system === "ssh" && loaded.sshPrivateKey);
    for (const secret of [loaded.sshPrivateKey, loaded.sshPrivateKeys, loaded.registryCredentials]) {
      assert.equal(await pulumi.isSecret(secret as pulumi.Output<unknown>), true);
    }
  });

  it("refuses credentials of a proxy that no proxy can take, and a password in its address", () => {
    const issues = (proxy: object | undefined, credentials: object) =>
      issuesOf(reader(cluster({ proxy }), { "foresail:proxyCredentials": JSON.stringify(credentials) }));
    const proxy = { https: "http://proxy.example.com:3128" };
    const own = { username: "node", password: "p@ss:w/ord" };
    assert.deepEqual(issues(proxy, own), []);
    assert.deepEqual(issues(undefined, own), [
      "proxyCredentials: is for a proxy, and none is set; write its address to cluster.proxy.http or https, or remove these credentials",
    ]);
    assert.deepEqual(issues(proxy, { ...own, username: "a:b" }), [
      "proxyCredentials: has a user name with a colon, which no proxy can tell from the password; use another user",
    ]);
    assert.deepEqual(issues(proxy, { ...own, password: "one\ntwo" }), [
      "proxyCredentials: contains a control character; write user name and password on one line",
    ]);
    assert.deepEqual(issues(proxy, { username: "node" }), [
      "proxyCredentials.password: is missing; write a text, in quotes",
    ]);
    assert.deepEqual(issues({ http: "http://node:pw@proxy.example.com" }, own), [
      "cluster.proxy.http: contains a user or password, which would be stored and shown in plain text; write them to the secret foresail:proxyCredentials",
    ]);
  });

  it("omits the key when there is none, so that the SSH agent is used", () => {
    const loaded = loadConfiguration(reader(cluster()));
    assert.equal(loaded.system === "ssh" && loaded.sshPrivateKey, undefined);
  });

  const keys: [string, string][] = [
    [HOST_KEY, "is a public key; give the private one"],
    [
      "hunter2",
      'is not a private key; give the whole file, from "-----BEGIN … PRIVATE KEY-----" to the END line',
    ],
    [pem({ cipher: "aes-256-cbc", passphrase: "x" }), LOCKED],
    [openssh("aes256-ctr"), LOCKED],
    [pem(), PKCS8],
    [openssh("none"), CUT],
    [without(generateKey().private, 1, 1), CUT],
    [without(generateKey().private, 2, 1), CUT],
    [without(rsa(), 5, 3), CUT],
  ];
  for (const [key, said] of keys) {
    it(`says that a key ${said.slice(0, 40)}, without the key`, () => {
      const issues = issuesOf(reader(cluster(), { "foresail:sshPrivateKey": key }));
      assert.deepEqual(issues, [`sshPrivateKey: ${said}`]);
    });
  }

  it("says what is wrong with credentials and never a password", () => {
    const said = issuesOf(
      reader(cluster(), {
        "foresail:registryCredentials": JSON.stringify({
          "https://a.example.com": { username: "u", password: "hunter2" },
          "b.example.com": { username: "u", pasword: "hunter2" },
          "c.example.com": "hunter2",
        }),
        "foresail:sshPrivateKeys": JSON.stringify({ "cp-l": "hunter2" }),
      }),
    );
    assert.equal(said.join().includes("hunter2"), false);
    assert.deepEqual(said, [
      'sshPrivateKeys.cp-l: is the key of no machine; did you mean "cp-1"?',
      'registryCredentials["https://a.example.com"]: "https://a.example.com" is a URL; write the host alone, e.g. "registry.example.com"',
      'registryCredentials["b.example.com"].password: is missing; write a text, in quotes',
      'registryCredentials["b.example.com"].pasword: is not known; did you mean "password"?',
      'registryCredentials["c.example.com"]: must be {username, password}',
    ]);
  });

  it("refuses a secret in plain text", () => {
    const plain = reader(cluster(), { "foresail:sshPrivateKey": generateKey().private });
    assert.deepEqual(issuesOf({ ...plain, isSecret: () => false }), [
      "sshPrivateKey: is not encrypted; set it with: pulumi config set --secret foresail:sshPrivateKey",
    ]);
  });
});
