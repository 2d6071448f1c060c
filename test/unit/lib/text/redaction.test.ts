import assert from "node:assert/strict";
import fc from "fast-check";
import { redact } from "../../../../lib/text/redaction";

const S = "S3cr3t-Value.x9";
const TOKEN = "abcdefghijklmnopqrstuvwxyz0123456789";
const pem = (kind: string) => `-----BEGIN ${kind}-----\nMIIEvQ${TOKEN}\n-----END ${kind}-----`;
/** Assembled here, so that no scanner reports this file as a leak. */
const known = (prefix: string) => `${prefix}${TOKEN}`;

/** Texts with a secret, and the part that must be removed. */
const SHAPES: readonly (readonly [text: string, secret: string])[] = [
  ...["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"].map(
    (kind) => [pem(kind), TOKEN] as const,
  ),
  [pem("PGP PRIVATE KEY BLOCK"), TOKEN],
  [pem("PRIVATE KEY").replaceAll("\n", "\\n"), TOKEN],
  [pem("PRIVATE KEY").slice(0, 50), TOKEN.slice(0, 10)],
  [`{"key": "LS0tLS1CRUdJTiBSU0EgUFJJ${TOKEN}"}`, TOKEN],
  [`AGE-SECRET-KEY-1${TOKEN.toUpperCase()}`, TOKEN.toUpperCase()],
  [`Authorization: Bearer ${S}`, S],
  [`authorization: Basic ${S}`, S],
  [`Authorization: Digest username="me", response="${S}"`, "me"],
  [`Authorization: AWS4-HMAC-SHA256 Credential=a, Signature=${S}`, S],
  [`Proxy-Authorization: Negotiate ${S}`, S],
  [`Authorization: ${S}`, S],
  [`{"Authorization":"Token ${S}"}`, S],
  [`{\\"Authorization\\":\\"Bearer ${S}\\"}`, S],
  [`-H 'Authorization: Bearer ${S}'`, S],
  [`X-Auth-Token: ${S}`, S],
  [`X-Subject-Token: ${S}`, S],
  [`x-api-key: ${S}`, S],
  [`X-Vault-Token: ${S}`, S],
  [`Cookie: session=${S}; other=1`, S],
  [`Set-Cookie: id=${S}; HttpOnly`, S],
  [`got 401 with Bearer ${S}`, S],
  [`https://me:${S}@registry.example/v2/`, S],
  [`postgres://app:${S}@db:5432/x?sslmode=require`, S],
  [`deleting the lock at postgres:/app:${S}@db:5432/x/.pulumi/locks`, S],
  [`http_proxy=http://user:${S}@proxy:3128`, S],
  [`redis://:${S}@cache:6379`, S],
  [`curl -u admin:${S} https://example.com`, S],
  [`curl --user "admin:${S}" https://example.com`, S],
  [`password=${S}`, S],
  [`password: ${S}`, S],
  [`"password": "${S}"`, S],
  [`'password': '${S}'`, S],
  [`{"password":"two words ${S}"}`, S],
  [`{"password":"quoted \\" ${S}"}`, S],
  [`{\\"password\\":\\"${S}\\"}`, S],
  [`PASSWORD = ${S}`, S],
  [`OS_PASSWORD=${S}`, S],
  [`PULUMI_CONFIG_PASSPHRASE=${S}`, S],
  [`db.passwd=${S}`, S],
  [`pwd=${S};`, S],
  [`AWS_SECRET_ACCESS_KEY=${S}`, S],
  [`secretKey: ${S}`, S],
  [`client_secret=${S}&grant_type=x`, S],
  [`clientSecret: "${S}"`, S],
  [`application_credential_secret: ${S}`, S],
  [`https://example.com/?access_token=${S}&x=1`, S],
  [`https://example.com/?apikey=${S}`, S],
  [`api-key: ${S}`, S],
  [`AccountKey=${S};EndpointSuffix=core`, S],
  [`client-key-data: ${S}`, S],
  [`client-certificate-data: ${S}`, S],
  [`certificateKey: ${S}`, S],
  [`privateKey: ${S}`, S],
  [`encryptionKey => ${S}`, S],
  [`ssh_private_key_data: ${S}`, S],
  [`kubeadm join 10.0.0.1:6443 --token ${S}`, S],
  [`kubeadm join --certificate-key ${S} --control-plane`, S],
  [`mysql --password ${S}`, S],
  [`login --client-secret "${S}"`, S],
  [`password: |\n  ${S}\n  more ${S}\nnext: 1`, S],
  [`  token: >-\n    ${S}\n  next: 1`, S],
  [`<password>${S}</password>`, S],
  [`<ns:apiKey>${S}</ns:apiKey>`, S],
  ["join with abcdef.0123456789abcdef now", "0123456789abcdef"],
  [`eyJhbGciOi.${TOKEN}.c2ln`, TOKEN],
  ...[
    "ghp_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "npm_",
    "pul-",
    "dop_v1_",
    "xoxb-",
    "hvs.",
    "sk-",
    "gAAAAA",
  ].map((prefix) => [`remote said: ${known(prefix)}`, TOKEN] as const),
  [`aws ${["AK", "IA"].join("")}IOSFODNN7EXAMPLE`, "IOSFODNN7EXAMPLE"],
];

describe("redaction", () => {
  it(`removes the secret of ${SHAPES.length} shapes, at least 60`, () => {
    assert.ok(SHAPES.length >= 60);
    for (const [text, secret] of SHAPES) {
      assert.ok(text.includes(secret), text);
      assert.equal(redact(text).includes(secret), false, `${text} → ${redact(text)}`);
    }
  });

  it("removes it within other text, and keeps that text", () => {
    for (const [text, secret] of SHAPES) {
      const safe = redact(`before\n${text}\nafter it`);
      assert.equal(safe.includes(secret), false, safe);
      assert.match(safe, /^before\n/);
    }
  });

  it("leaves texts without secrets unchanged", () => {
    for (const text of [
      "w-1: join as worker of workers, wait until Ready",
      "Secret kube-system/foresail not found",
      "https://10.0.0.1:6443/api/v1/nodes/w-1",
      "the passphrase is wrong; set PULUMI_CONFIG_PASSPHRASE",
      "secretName: tls",
      "passwordFile is missing",
      "sha256:0a1b2c3d4e5f",
      "ssh ops@10.0.0.1:22",
      "kubeadm token create",
      "machine-id 4c4c4544004d3510",
      "cannot delete sshKey 'k1-sshkey': still referenced by 6 object(s)",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ])
      assert.equal(redact(text), text);
  });

  it("changes nothing the second time", () => {
    for (const [text] of SHAPES) assert.equal(redact(redact(text)), redact(text), text);
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => redact(redact(text)) === redact(text)));
  });

  it("takes linear time", () => {
    const milliseconds = (text: string) => {
      const started = process.hrtime.bigint();
      redact(text);
      return Number(process.hrtime.bigint() - started) / 1e6;
    };
    const parts = [
      "a",
      "password",
      "token: ",
      "a://b:",
      "-----BEGIN PRIVATE KEY",
      "<password>",
      " -u a",
      '"\\',
      "\n  ",
    ];
    for (const part of parts) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      assert.ok(milliseconds(text) < 5_000, `${JSON.stringify(part)} takes too long`);
    }
  });
});
