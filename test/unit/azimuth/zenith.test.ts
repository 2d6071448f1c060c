import assert from "node:assert/strict";
import { operatorValues, tunnelValues, zenithValues } from "../../../core/azimuth/zenith-values";

const values = tunnelValues({ host: "zenith.example.com", port: 22 });
const { sshPrivateKeyData } = values.zenithClient as { sshPrivateKeyData: string };
const pod = { kind: "Pod", metadata: { name: "zenith-apiserver" } };
const endpoint = { fqdn: "abc.apps.example.com", secret: "demo-zenith-apiserver" };

describe("Helm values for Zenith", () => {
  it("let Cluster API read the key from its Secret, whether the chart takes it as text or in base64", () => {
    for (const secret of [
      { kind: "Secret", data: { "ssh-identity": sshPrivateKeyData, other: "b3RoZXI=" } },
      { kind: "Secret", stringData: { "ssh-identity": sshPrivateKeyData, other: "other" } },
    ]) {
      const { controlPlane } = zenithValues(endpoint, [secret, pod], { monitoring: false });
      const { files } = (controlPlane as { kubeadmConfigSpec: { files: Record<string, unknown>[] } })
        .kubeadmConfigSpec;
      const rights = { owner: "root:root", permissions: "0600" };
      assert.deepEqual(files.slice(1), [
        { path: "/etc/zenith/other", content: "b3RoZXI=", encoding: "base64", ...rights },
        {
          path: "/etc/zenith/ssh-identity",
          contentFrom: { secret: { name: "demo-zenith-apiserver", key: "id_ed25519" } },
          ...rights,
        },
      ]);
      assert.match(Buffer.from(String(files[0]?.["content"]), "base64").toString(), /kind: Pod/);
    }
  });

  it("send the API server through the reserved name, and no load balancer", () => {
    const secret = { kind: "Secret", data: { key: sshPrivateKeyData } };
    const all = zenithValues(endpoint, [secret, pod], { monitoring: true });
    assert.deepEqual(all.controlPlaneEndpoint, { host: "abc.apps.example.com", port: 443 });
    assert.deepEqual(all.apiServer, { enableLoadBalancer: false, associateFloatingIP: false });
    assert.match(JSON.stringify(all.addons), /kube-prometheus-stack-grafana/);
  });

  it("refuse a chart that is not Zenith's", () => {
    assert.throws(() => zenithValues(endpoint, [pod], { monitoring: false }), /no file for the private key/);
    const secret = { kind: "Secret", data: { key: sshPrivateKeyData } };
    assert.throws(() => zenithValues(endpoint, [secret], { monitoring: false }), /renders no Pod/);
  });

  it("tell the operator of the cluster's kubeconfig and project", () => {
    const settings = { registrarAdminUrl: "http://registrar", sshdHost: "zenith.example.com", sshdPort: 22 };
    assert.deepEqual(operatorValues("demo", settings, "0a1b"), {
      kubeconfigSecret: { name: "demo-kubeconfig", key: "value" },
      config: { ...settings, defaultAuthParams: { "tenancy-id": "0a1b" } },
    });
  });
});
