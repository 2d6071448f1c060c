import assert from "node:assert/strict";
import { rootCertificates } from "node:tls";
import { issuesOf, refuses, type RefusedInputs } from "./issues";
import { cloudReader, cluster, OPENSTACK, reader, TUMBLEBUG } from "./valid";

type Fields = Record<string, unknown>;
const URL = "https://id.example.com";
const of = (issuer: Fields = {}, over: Fields = {}) => ({
  issuer: { url: URL, audiences: ["kubernetes"], ...issuer },
  claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
  ...over,
});
const authentication = (...oidc: Fields[]) => ({ authentication: { oidc } });
const oidc = (...issuers: Fields[]) => cluster(authentication(...issuers));
const own = (name: string) => ({
  kubeadm: { clusterConfiguration: { apiServer: { extraArgs: [{ name, value: "/etc/kubernetes/pki/x" }] } } },
});
const excludes = (name: string) =>
  `cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].name: "${name}" and authentication.oidc exclude each other: the API server takes one of them; move it to authentication.oidc, or remove authentication.oidc`;

const TABLE: RefusedInputs = {
  "an issuer that is not an https URL": [
    [
      'cluster.authentication.oidc[0].issuer.url: "http://id.example.com" is not an https URL; write e.g. "https://host.example.com/path"',
      oidc(of({ url: "http://id.example.com" })),
    ],
    [
      'cluster.authentication.oidc[0].issuer.url: "https://id.example.com/?a=b" has a query or fragment, which no issuer has; write it as tokens have it in "iss"',
      oidc(of({ url: `${URL}/?a=b` })),
    ],
    [
      "cluster.authentication.oidc[0].issuer.url: contains a user or password, which would be stored and shown in plain text; remove them",
      oidc(of({ url: "https://a:b@id.example.com" })),
    ],
  ],
  "an issuer or audience that is listed twice": [
    [
      `cluster.authentication.oidc[1].issuer.url: "${URL}" is listed twice; remove one`,
      oidc(of(), of({ audiences: ["other"] })),
    ],
    [
      'cluster.authentication.oidc[0].issuer.audiences[1]: "a" is listed twice; remove one',
      oidc(of({ audiences: ["a", "a"] })),
    ],
  ],
  "an issuer without what a token is checked for": [
    [
      "cluster.authentication.oidc[0].issuer.audiences: is empty; write a client ID",
      oidc(of({ audiences: [] })),
    ],
    [
      "cluster.authentication.oidc[0].claimMappings.username.claim: is empty; write a text",
      oidc(of({}, { claimMappings: { username: { claim: "", prefix: "" } } })),
    ],
    [
      'cluster.authentication.oidc[0].issuer.certificateAuthority: contains no certificate; write PEM, from "-----BEGIN CERTIFICATE-----" to the END line',
      oidc(of({ certificateAuthority: "/etc/ssl/ca.pem" })),
    ],
    [
      'cluster.authentication.oidc[0].claimValidationRules[1].claim: "hd" is listed twice; remove one',
      oidc(
        of({}, { claimValidationRules: ["a", "b"].map((requiredValue) => ({ claim: "hd", requiredValue })) }),
      ),
    ],
  ],
  "arguments of the API server that contradict it, on every system": [
    [excludes("oidc-username-claim"), cluster({ ...authentication(of()), ...own("oidc-username-claim") })],
    [
      excludes("authentication-config"),
      cloudReader("openstack", OPENSTACK, { ...authentication(of()), ...own("authentication-config") }),
    ],
    [
      excludes("oidc-ca-file"),
      cloudReader("tumblebug", TUMBLEBUG, { ...authentication(of()), ...own("oidc-ca-file") }),
    ],
  ],
  "the file and the issuer that the cluster has itself": [
    [
      'cluster.files[0].path: "/etc/kubernetes/authentication/configuration.yaml" is the file of authentication.oidc; choose another path',
      cluster({
        ...authentication(of()),
        files: [{ path: "/etc/kubernetes/authentication/configuration.yaml", content: "a" }],
      }),
    ],
    [
      'cluster.authentication.oidc[0].issuer.url: "https://kubernetes.default.svc.cluster.local" is the issuer of the cluster\'s own service accounts',
      oidc(of({ url: "https://kubernetes.default.svc.cluster.local" })),
    ],
  ],
  "a profile that is none": [
    ['cluster.profile: is the text "CIS"; write one of "cis"', cluster({ profile: "CIS" })],
  ],
};

refuses(TABLE);

describe("configuration: accepts", () => {
  it("issuers with certificates and rules, and arguments of OIDC without any issuer", () => {
    const issuer = of(
      { certificateAuthority: rootCertificates[0] },
      { claimValidationRules: [{ claim: "hd", requiredValue: "example.com" }] },
    );
    assert.deepEqual(issuesOf(reader(oidc(issuer, of({ url: `${URL}/other` })))), []);
    const pair = { "oidc-issuer-url": URL, "oidc-client-id": "kubernetes" };
    const extraArgs = Object.entries(pair).map(([name, value]) => ({ name, value }));
    const apart = { kubeadm: { clusterConfiguration: { apiServer: { extraArgs } } } };
    assert.deepEqual(issuesOf(reader(cluster(apart))), []);
    const adopted = { adopt: true, encryptSecretsAtRest: false, network: { plugin: { none: {} } } };
    assert.deepEqual(issuesOf(reader(cluster({ ...authentication(of()), profile: "cis", ...adopted }))), []);
  });
});
