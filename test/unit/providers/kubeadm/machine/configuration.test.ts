import assert from "node:assert/strict";
import { parse, parseAllDocuments, stringify } from "yaml";
import {
  clusterConfiguration,
  discoveryKubeconfig,
  initConfiguration,
  joinConfiguration,
} from "../../../../../providers/kubeadm/machine/configuration/configuration";
import type { JsonObject } from "../../../../../lib/merge";
import {
  adminCredentials,
  certificateAuthority,
  renderKubeconfig,
} from "../../../../../providers/kubeadm/machine/cluster/kubeconfig";
import { assertGolden } from "../../../golden";
import { exampleMachine, exampleSpecification } from "./examples";

const planes = ["cp-1", "cp-2", "cp-3"].map((name) => exampleMachine(name));

describe("kubeadm configuration", () => {
  it("matches the reviewed files for init and for both joins", () => {
    const specification = exampleSpecification({ kubelet: { maxPods: 50 } });
    assertGolden("init.yaml", initConfiguration(specification, planes[0]!, planes));
    assertGolden(
      "join-control-plane.yaml",
      joinConfiguration(specification, planes[1]!, "abcdef.0123456789abcdef"),
    );
    const worker = exampleMachine("w-1", { taints: [{ key: "gpu", effect: "NoSchedule" }] });
    assertGolden("join-worker.yaml", joinConfiguration(specification, worker, "abcdef.0123456789abcdef"));
  });

  it("registers a control plane without its taint when the user's list of taints is empty", () => {
    const user = { nodeRegistration: { taints: [] } };
    const taintsOf = (text: string) =>
      (parseAllDocuments(text)[0]!.toJS() as { nodeRegistration: { taints: unknown } }).nodeRegistration
        .taints;
    const init = exampleSpecification({ kubeadm: { initConfiguration: user } });
    const join = exampleSpecification({ kubeadm: { joinConfiguration: user } });
    const gpu = { key: "gpu", effect: "NoSchedule" as const };
    const own = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
    const control = (taints: (typeof gpu)[] = []) =>
      exampleMachine("cp-2", { role: "control-plane", taints });
    assert.deepEqual(taintsOf(initConfiguration(init, control(), planes)), []);
    assert.deepEqual(taintsOf(joinConfiguration(init, control(), "a.b")), [own]);
    assert.deepEqual(taintsOf(joinConfiguration(join, control(), "a.b")), []);
    assert.deepEqual(taintsOf(joinConfiguration(join, control([gpu]), "a.b")), [gpu]);
  });

  it("lets kubeadm skip its check of etcd only while another control plane joins", () => {
    const phases = (overlaps: boolean) =>
      /^skipPhases:\n {2}- (.*)$/m.exec(
        joinConfiguration(exampleSpecification(), planes[2]!, "a.b", overlaps),
      )?.[1];
    assert.deepEqual([phases(true), phases(false)], ["check-etcd", undefined]);
  });

  it("quotes what kubeadm's older YAML would not read as a string", () => {
    const taints = ["yes", "off", "0777", "1:30", "true"].map((value) => ({
      key: `example.com/${value.replace(":", "-")}`,
      value,
      effect: "NoSchedule" as const,
    }));
    const text = joinConfiguration(exampleSpecification(), exampleMachine("w-1", { taints }), "a.b");
    for (const { value } of taints) assert.ok(text.includes(`value: "${value}"`), text);
  });

  it("names every control plane and the loopback address in the certificate", () => {
    const { apiServer } = clusterConfiguration(exampleSpecification(), planes) as {
      apiServer: { certSANs: string[] };
    };
    for (const name of ["127.0.0.1", "cp-3", "10.0.0.13", "192.0.2.13"])
      assert.ok(apiServer.certSANs.includes(name));
  });

  it("merges the user's objects last and keeps foresail's own entries", () => {
    const specification = exampleSpecification({
      kubeadm: {
        clusterConfiguration: {
          apiServer: {
            certSANs: ["extra.example.com"],
            extraArgs: [{ name: "audit-log-maxage", value: "7" }],
          },
        },
      },
    });
    const { apiServer } = clusterConfiguration(specification, planes) as {
      apiServer: { certSANs: string[]; extraArgs: { name: string }[] };
    };
    assert.ok(apiServer.certSANs.includes("extra.example.com") && apiServer.certSANs.includes("127.0.0.1"));
    assert.deepEqual(
      apiServer.extraArgs.map(({ name }) => name),
      ["encryption-provider-config", "audit-log-maxage"],
    );
  });

  it("has etcd listen on every address where a cloud translates the node's", () => {
    const { network } = exampleSpecification();
    const etcdOf = (over: object, own?: JsonObject) =>
      clusterConfiguration(
        exampleSpecification({
          network: { ...network, ...over },
          ...(own ? { kubeadm: { clusterConfiguration: { etcd: own } } } : {}),
        }),
        planes,
      )["etcd"];
    const listen = [
      { name: "listen-client-urls", value: "https://0.0.0.0:2379" },
      { name: "listen-peer-urls", value: "https://0.0.0.0:2380" },
    ];
    const held = { holdNodeAddress: true };
    assert.equal(etcdOf({}), undefined);
    assert.deepEqual(etcdOf(held), { local: { extraArgs: listen } });
    const quota = { name: "quota-backend-bytes", value: "8589934592" };
    assert.deepEqual(etcdOf(held, { local: { extraArgs: [quota] } }), {
      local: { extraArgs: [...listen, quota] },
    });
  });

  it("leaves encryption out when it is disabled", () => {
    const { apiServer } = clusterConfiguration(
      exampleSpecification({ encryptSecretsAtRest: false }),
      planes,
    ) as {
      apiServer: object;
    };
    assert.ok(!("extraArgs" in apiServer));
  });

  it("gives joining machines an address and an authority but no credentials", () => {
    const file = parse(discoveryKubeconfig(exampleSpecification(), "Q0E=")) as { users: unknown[] };
    assert.deepEqual(file.users, []);
    assert.equal(certificateAuthority(discoveryKubeconfig(exampleSpecification(), "Q0E=")), "Q0E=");
  });

  it("has four documents for init", () => {
    const kinds = parseAllDocuments(initConfiguration(exampleSpecification(), planes[0]!, planes)).map(
      (document) => (document.toJSON() as { kind: string }).kind,
    );
    assert.deepEqual(kinds, [
      "InitConfiguration",
      "ClusterConfiguration",
      "KubeletConfiguration",
      "KubeProxyConfiguration",
    ]);
  });
});

describe("exported kubeconfig", () => {
  const credentials = { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" };

  it("has one context per control plane and names the healthy one", () => {
    const file = parse(
      renderKubeconfig("demo", { controlPlanes: planes, preferred: "cp-2" }, credentials),
    ) as {
      "current-context": string;
      contexts: { name: string }[];
      clusters: { cluster: { server: string } }[];
    };
    assert.equal(file["current-context"], "demo-cp-2");
    assert.deepEqual(
      file.contexts.map(({ name }) => name),
      ["demo-cp-1", "demo-cp-2", "demo-cp-3"],
    );
    assert.equal(file.clusters[2]?.cluster.server, "https://192.0.2.13:6443");
  });

  it("falls back to the first when the named one is gone", () => {
    const file = parse(
      renderKubeconfig("demo", { controlPlanes: planes, preferred: "cp-9" }, credentials),
    ) as {
      "current-context": string;
    };
    assert.equal(file["current-context"], "demo-cp-1");
  });

  it("names the load balancer as the current one, by the cluster's name, before the control planes", () => {
    const servers = { controlPlanes: planes, preferred: "cp-2", loadBalancer: "203.0.113.5:6443" };
    const file = parse(renderKubeconfig("demo", servers, credentials)) as {
      "current-context": string;
      contexts: { name: string; context: { cluster: string } }[];
      clusters: { name: string; cluster: { server: string } }[];
    };
    assert.equal(file["current-context"], "demo");
    assert.deepEqual(
      file.contexts.map(({ name, context }) => [name, context.cluster]),
      ["demo", "demo-cp-1", "demo-cp-2", "demo-cp-3"].map((name) => [name, name]),
    );
    assert.deepEqual(file.clusters[0]?.cluster.server, "https://203.0.113.5:6443");
  });

  it("extracts the credentials from admin.conf, and refuses another file", () => {
    const text = renderKubeconfig("demo", { controlPlanes: planes }, credentials);
    assert.deepEqual(adminCredentials(text), credentials);
    assert.throws(() => adminCredentials("apiVersion: v1\n"), /contains no certificate authority/);
    const hostile = parse(text) as { clusters: { cluster: object }[]; users: { user: object }[] };
    Object.assign(hostile.users[0]!.user, { exec: { command: "sh" }, tokenFile: "/etc/shadow", as: "other" });
    Object.assign(hostile.clusters[0]!.cluster, {
      "proxy-url": "http://x",
      "insecure-skip-tls-verify": true,
    });
    assert.deepEqual(adminCredentials(stringify(hostile)), credentials);
  });
});
