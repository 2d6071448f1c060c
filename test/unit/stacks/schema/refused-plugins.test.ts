import assert from "node:assert/strict";
import { issuesOf, refuses, type RefusedInputs } from "./issues";
import { cluster, reader } from "./valid";

type Fields = Record<string, unknown>;

const plugin = (name: string, values: Fields) => cluster({ network: { plugin: { [name]: { values } } } });
const cil = (values: Fields) => plugin("cilium", values);
const fl = (values: Fields) => plugin("flannel", values);
const cal = (values: Fields) => plugin("calico", values);
const reg = (registries: Fields) => cluster({ registries });
const WITHOUT_PROXY = { clusterConfiguration: { proxy: { disabled: true } } };

/** Values that a chart or containerd refuses, or leaves out without a word; each is refused with exactly this line. */
const TABLE: RefusedInputs = {
  "a value that a network plugin does not know": [
    [
      'cluster.network.plugin.cilium.values.kubeProxyReplacement: "maybe" is neither true nor false',
      cil({ kubeProxyReplacement: "maybe" }),
    ],
    [
      "cluster.network.plugin.cilium.values.kubeProxyReplacement: 1 is neither true nor false",
      cil({ kubeProxyReplacement: 1 }),
    ],
    [
      'cluster.network.plugin.cilium.values.ipam.mode: "clusterpool" is not known; did you mean "cluster-pool"?',
      cil({ ipam: { mode: "clusterpool" } }),
    ],
    [
      'cluster.network.plugin.flannel.values.flannel.backend: "vxlan2" is not known; did you mean "vxlan"?',
      fl({ flannel: { backend: "vxlan2" } }),
    ],
    [
      'cluster.network.plugin.flannel.values.flannel.mtu: "big" is not a whole number of 0 or more',
      fl({ flannel: { mtu: "big" } }),
    ],
    [
      "cluster.network.plugin.calico.values.installation.calicoNetwork.bgp: true is not known; known are Enabled, Disabled",
      cal({ installation: { calicoNetwork: { bgp: true } } }),
    ],
    [
      'cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools[0].encapsulation: "GRE" is not known; known are IPIPCrossSubnet, IPIP, VXLAN, VXLANCrossSubnet, None',
      cal({
        installation: { calicoNetwork: { ipPools: [{ cidr: "10.244.0.0/16", encapsulation: "GRE" }] } },
      }),
    ],
    [
      "cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools[0].encapsulation: needs BGP, and calicoNetwork.bgp is Disabled; write VXLAN, or enable BGP",
      cal({
        installation: {
          calicoNetwork: { bgp: "Disabled", ipPools: [{ cidr: "10.244.0.0/16", encapsulation: "IPIP" }] },
        },
      }),
    ],
    [
      "cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools[0].natOutgoing: true is not known; known are Enabled, Disabled",
      cal({ installation: { calicoNetwork: { ipPools: [{ cidr: "10.244.0.0/16", natOutgoing: true }] } } }),
    ],
    [
      'cluster.network.plugin.calico.values.installation.calicoNetwork.linuxDataplane: "eBPF" is not known; did you mean "BPF"?',
      cal({ installation: { calicoNetwork: { linuxDataplane: "eBPF" } } }),
    ],
    [
      'cluster.network.plugin.calico.values.installation.calicoNetwork.ipPools[0].blockSize: must be the prefix of blocks in "10.244.0.0/16"; write a number from 20 to 32',
      cal({ installation: { calicoNetwork: { ipPools: [{ cidr: "10.244.0.0/16", blockSize: 19 }] } } }),
    ],
    [
      'cluster.network.plugin.cilium.values.tunnelProtocol: "gre" is not known; known are vxlan, geneve',
      cil({ tunnelProtocol: "gre" }),
    ],
    [
      'cluster.network.plugin.cilium.values.routingMode: "direct" is not known; known are native, tunnel',
      cil({ routingMode: "direct" }),
    ],
    [
      'cluster.network.plugin.cilium.values.MTU: "big" is not a whole number of 0 or more',
      cil({ MTU: "big" }),
    ],
    [
      "cluster.network.plugin.cilium.values.operator.replicas: 0 is not a whole number of 1 or more",
      cil({ operator: { replicas: 0 } }),
    ],
    [
      'cluster.network.plugin.cilium.values.k8sServicePort: "port" is not a whole number of 1 or more',
      cil({ kubeProxyReplacement: true, k8sServiceHost: "127.0.0.1", k8sServicePort: "port" }),
    ],
    [
      'cluster.network.plugin.cilium.values.encryption.type: "tls" is not known; known are ipsec, wireguard, ztunnel',
      cil({ encryption: { enabled: true, type: "tls" } }),
    ],
    [
      'cluster.network.plugin.cilium.values.hubble.enabled: "yes" is neither true nor false',
      cil({ hubble: { enabled: "yes" } }),
    ],
  ],
  "a setting of a registry that has no effect": [
    [
      'cluster.registries.hosts["http://m.example.com"].ca: is for https, and this address is http, which has no certificate; remove it, or write https',
      reg({
        mirrors: { "docker.io": ["http://m.example.com"] },
        hosts: { "http://m.example.com": { ca: ["/etc/ca.crt"] } },
      }),
    ],
    [
      'cluster.registries.hosts["https://m.example.com"].capabilities: is without "pull" and "resolve", so that nothing is asked of it; add them, or remove it',
      reg({
        mirrors: { "docker.io": ["https://m.example.com"] },
        hosts: { "https://m.example.com": { capabilities: ["push"] } },
      }),
    ],
    [
      'cluster.registries.hosts["https://m.example.com"].header.Host: "Host" is taken from the URL; remove it',
      reg({
        mirrors: { "docker.io": ["https://m.example.com"] },
        hosts: { "https://m.example.com": { header: { Host: "x.example.com" } } },
      }),
    ],
  ],
};

refuses(TABLE);

describe("configuration: accepts", () => {
  const accepted: Record<string, Fields> = {
    "flannel beside a kube-proxy of others": cluster({ kubeadm: WITHOUT_PROXY }),
    "sizes that the mode of Cilium's addresses does not read": cil({
      ipam: { operator: { clusterPoolIPv4PodCIDRList: ["10.0.0.0/8"] } },
    }),
    "Cilium's own empty port": cil({ k8sServicePort: "" }),
    "words of another version of a chart": cluster({
      network: { plugin: { cilium: { version: "1.15.7", values: { kubeProxyReplacement: "strict" } } } },
    }),
    "skipVerify that http does not read": reg({
      mirrors: { "docker.io": ["http://m.example.com"] },
      hosts: { "http://m.example.com": { skipVerify: true } },
    }),
    "Cilium in the place of kube-proxy": cluster({
      kubeadm: WITHOUT_PROXY,
      network: {
        plugin: {
          cilium: {
            values: { kubeProxyReplacement: "true", k8sServiceHost: "127.0.0.1", k8sServicePort: 8443 },
          },
        },
      },
    }),
    "Calico in the place of kube-proxy": cluster({
      kubeadm: WITHOUT_PROXY,
      network: {
        plugin: { calico: { values: { installation: { calicoNetwork: { linuxDataplane: "BPF" } } } } },
      },
    }),
    "a plugin that foresail does not know, without kube-proxy": cluster({
      kubeadm: WITHOUT_PROXY,
      network: { plugin: { manifest: { path: "plugin.yaml" } } },
    }),
    "an adopted cluster without kube-proxy": cluster({
      adopt: true,
      encryptSecretsAtRest: false,
      kubeadm: WITHOUT_PROXY,
      network: { plugin: { none: {} } },
    }),
  };
  for (const [what, input] of Object.entries(accepted))
    it(what, () => assert.deepEqual(issuesOf(reader(input)), []));
});
