import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { userKubeconfig } from "../../../../providers/azimuth/plan/user-kubeconfig";

const oidc = { issuerUrl: "https://id.example.com/realms/az-demo", clientId: "kube-demo" };
const admin = (cluster: object) =>
  stringify({
    clusters: [{ name: "demo", cluster }],
    users: [{ name: "demo-admin", user: { "client-key-data": "a2V5" } }],
  });

describe("the kubeconfig of a cluster's users", () => {
  it("is the one that azimuth-capi-operator writes", () => {
    const cluster = { "certificate-authority-data": "Y2E=", server: "https://192.0.2.1:6443" };
    const text = userKubeconfig(admin(cluster), oidc);
    assert.ok(!text.includes("a2V5"), "the administrator's key");
    assert.deepEqual(parse(text), {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "demo", cluster }],
      users: [
        {
          name: "oidc",
          user: {
            exec: {
              apiVersion: "client.authentication.k8s.io/v1beta1",
              command: "kubectl",
              args: [
                "oidc-login",
                "get-token",
                "--grant-type=device-code",
                "--oidc-issuer-url=https://id.example.com/realms/az-demo",
                "--oidc-client-id=kube-demo",
              ],
            },
          },
        },
      ],
      contexts: [{ name: "oidc@demo", context: { cluster: "demo", user: "oidc" } }],
      "current-context": "oidc@demo",
      preferences: {},
    });
  });

  it("contains no file, proxy or skipped verification of the administrator's kubeconfig", () => {
    const server = "https://192.0.2.1:6443";
    const text = userKubeconfig(
      admin({
        server,
        "certificate-authority": "/etc/ca",
        "proxy-url": "http://p",
        "insecure-skip-tls-verify": true,
      }),
      oidc,
    );
    assert.deepEqual((parse(text) as { clusters: object[] }).clusters, [
      { name: "demo", cluster: { server } },
    ]);
  });

  it("is not created from an invalid kubeconfig, whose text is not repeated", () => {
    for (const text of [
      "",
      "hunter2",
      "{hunter2",
      "clusters: [null]",
      "clusters: {}",
      admin({}),
      admin({ server: "http://a" }),
    ])
      assert.throws(() => userKubeconfig(text, oidc), /^Error: it has no cluster with an https server$/);
    for (const wrong of [
      { ...oidc, issuerUrl: "no url" },
      { ...oidc, clientId: "a\nb" },
    ])
      assert.throws(() => userKubeconfig(admin({ server: "https://a" }), wrong), /plain text/);
  });
});
