import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import type { KubernetesClient, ObjectRef } from "../../../../lib/kubernetes";
import { compareUserAccess } from "../../../../providers/azimuth/client/cluster-record";
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

describe("the kubeconfig of a cluster's users, from Cluster API's Secret", () => {
  const SERVER = "https://192.0.2.1:6443";
  const text = (user: object, cluster: object = {}) =>
    stringify({
      clusters: [{ name: "demo", cluster: { server: SERVER, ...cluster } }],
      users: [{ name: "demo-admin", user }],
      contexts: [{ name: "demo", context: { cluster: "demo", user: "demo-admin" } }],
      "current-context": "demo",
    });
  /** Answers as a management cluster with this kubeconfig in the Secret of Cluster API. */
  const compare = (kubeconfig: string) => {
    const objects: Record<string, object> = {
      "Cluster/demo": { metadata: { uid: "uid-1" } },
      "Secret/demo-kubeconfig": { data: { value: Buffer.from(kubeconfig).toString("base64") } },
      "OIDCClient/kube-demo": { status: oidc },
    };
    const get = ({ kind, name }: ObjectRef) => Promise.resolve(objects[`${kind}/${name}`]);
    return compareUserAccess({ get } as unknown as KubernetesClient, {
      namespace: "az-demo",
      cluster: "demo",
    });
  };

  it("is written to a Secret of the record", async () => {
    const { secret, problem } = await compare(text({ token: "t" }));
    assert.equal(problem, undefined);
    assert.equal(secret?.metadata.name, "demo-kubeconfig-user");
  });

  const refused: [field: string, text: string][] = [
    ["users[0].user.exec", text({ exec: { command: "sh" } })],
    ["users[0].user.auth-provider", text({ "auth-provider": { name: "x" } })],
    ["users[0].user.tokenFile", text({ tokenFile: "/etc/hostname" })],
    ["clusters[0].cluster.insecure-skip-tls-verify", text({}, { "insecure-skip-tls-verify": true })],
    ["clusters[0].cluster.proxy-url", text({}, { "proxy-url": "http://192.0.2.9" })],
    ["clusters[0].cluster.certificate-authority", text({}, { "certificate-authority": "/etc/ca" })],
    ["clusters[0].cluster.server", text({}, { server: "http://192.0.2.1" })],
  ];
  for (const [field, kubeconfig] of refused)
    it(`is not made from one with ${field}, and the message names Secret and field`, async () => {
      const { secret, lines, problem = "" } = await compare(kubeconfig);
      assert.equal(secret, undefined);
      assert.deepEqual(lines, []);
      assert.match(problem, /Secret az-demo\/demo-kubeconfig/);
      assert.ok(problem.includes(field), problem);
    });
});
