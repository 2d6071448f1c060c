import assert from "node:assert/strict";
import { issuesOf } from "./issues";
import { cluster, controlPlane, HOST_KEY, reader, worker } from "./valid";

const control = (fields: Record<string, unknown>) => cluster({ machines: [controlPlane(fields), worker()] });
const work = (fields: Record<string, unknown>) => cluster({ machines: [controlPlane(), worker(fields)] });
const network = (fields: Record<string, unknown>) => cluster({ network: fields });
const file = (fields: Record<string, unknown>) =>
  cluster({ files: [{ path: "/etc/motd", content: "", ...fields }] });
const plugin = (value: unknown) => network({ plugin: value });
const bundle = (value: unknown) => cluster({ source: { bundle: value } });
const NAME_HINT = "write lower-case letters, digits and dashes, with a letter or digit at both ends";
const KEY_HINT =
  "its name has at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends";
const VALUE_HINT =
  "write at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends";

/** Each configuration has one validation issue, and this is its line. */
const TABLE: [string, unknown][] = [
  ['cluster.name: "Prod" is not a DNS label; ' + NAME_HINT, cluster({ name: "Prod" })],
  [
    `cluster.name: "${"a".repeat(41)}" has 41 characters; write at most 40`,
    cluster({ name: "a".repeat(41) }),
  ],
  ["cluster.name: is missing; write a text", cluster({ name: undefined })],
  ['cluster.version: "v1.36.3" must be written without the "v": "1.36.3"', cluster({ version: "v1.36.3" })],
  [
    'cluster.version: "1.36" has no patch number; write all three, e.g. "1.36.0"',
    cluster({ version: "1.36" }),
  ],
  [
    'cluster.version: was read as the number 1.36 (so is 1.360); write all three parts in quotes, e.g. "1.37.2"',
    cluster({ version: 1.36 }),
  ],
  [
    'cluster.version: "latest" is not a version; write MAJOR.MINOR.PATCH, e.g. "1.37.2"',
    cluster({ version: "latest" }),
  ],
  ['cluster.version: Kubernetes 2.0.0 does not exist; write e.g. "1.37.2"', cluster({ version: "2.0.0" })],
  [
    "cluster.version: Kubernetes 1.30.4 is too old: its kubeadm does not read v1beta4 configuration; use 1.31 or newer",
    cluster({ version: "1.30.4" }),
  ],
  ['cluster.machnes: is not known; did you mean "machines"?', cluster({ machnes: [] })],
  ['cluster.machines[1].adress: is not known; did you mean "address"?', work({ adress: "x" })],
  [
    'cluster.machines[1].role: "master" is not a role; write "control-plane" or "worker"',
    work({ role: "master" }),
  ],
  ['cluster.machines[1].role: is missing; write one of "control-plane", "worker"', work({ role: undefined })],
  [
    'cluster.machines[1].name: "cp-1" is the name of machines[0] too; give each machine its own',
    work({ name: "cp-1" }),
  ],
  ["cluster.machines[1].port: is 70000; write 65535 or less", work({ port: 70000 })],
  ['cluster.machines[1].port: is the text "22"; write a number, without quotes', work({ port: "22" })],
  [
    'cluster.machines[1].address: "192.0.2.300" is not an IPv4 address; write e.g. "192.0.2.11"',
    work({ address: "192.0.2.300", internalAddress: "192.0.2.9" }),
  ],
  [
    'cluster.machines[1].address: "2001:db8::1" is an IPv6 address; write a host name or an IPv4 address',
    work({ address: "2001:db8::1", internalAddress: "192.0.2.9" }),
  ],
  [
    'cluster.machines[1].address: "192.0.2.9:22" contains a port; write the port in its own field',
    work({ address: "192.0.2.9:22", internalAddress: "192.0.2.9" }),
  ],
  [
    'cluster.machines[1].address: "192.0.2.11:22" is the address and port of machines[0] too; give each machine its own',
    work({ address: "192.0.2.11", internalAddress: "192.0.2.12" }),
  ],
  [
    'cluster.machines[1].internalAddress: "192.0.2.11" is the internal address of machines[0] too; give each machine its own',
    work({ internalAddress: "192.0.2.11" }),
  ],
  [
    'cluster.machines[1].internalAddress: is missing; the machines must reach each other at an IPv4 address, and the address ("w-1.example.com") is not one that they can use',
    work({ address: "w-1.example.com" }),
  ],
  [
    'cluster.machines[1].internalAddress: "127.0.0.1" is a loopback address, which no other machine reaches; write the address in the machines\' network',
    work({ internalAddress: "127.0.0.1" }),
  ],
  [
    "cluster.machines[0].pool: control planes have no pool; remove it, or make the machine a worker",
    control({ pool: "a" }),
  ],
  ["cluster.machines[1].apiServer: workers have no API server; remove it", work({ apiServer: "a.b:6443" })],
  [
    'cluster.machines[0].apiServer: "192.0.2.11" is not an address with a port; write e.g. "192.0.2.11:6443"',
    control({ apiServer: "192.0.2.11" }),
  ],
  [
    'cluster.machines[1].pool: "control-planes" is reserved for the control planes; choose another name',
    work({ pool: "control-planes" }),
  ],
  [
    'cluster.machines[1].user: "a b" is not the name of a Linux user; write at most 32 letters, digits, dots, dashes and underscores, with a letter first',
    work({ user: "a b" }),
  ],
  [
    "cluster.ssh.jumpHost.hostKey: is missing: what goes through a jump host must know its key; print it with: ssh-keyscan <address>, and compare it there",
    cluster({ ssh: { jumpHost: { address: "192.0.2.1" } } }),
  ],
  [
    "cluster.machines[1].hostKey: is a cut or mistyped host key; copy the whole line again",
    work({ hostKey: HOST_KEY.slice(0, -9) }),
  ],
  [
    'cluster.machines[1].hostKey: starts with the name of a host; write the key alone, "ssh-ed25519 AAAA…"',
    work({ hostKey: `w-1 ${HOST_KEY}` }),
  ],
  [
    'cluster.machines[1].labels["a b"]: "a b" is not a key of Kubernetes; ' + KEY_HINT,
    work({ labels: { "a b": "" } }),
  ],
  [
    'cluster.machines[1].labels.a: "b c" is not a value of Kubernetes; ' + VALUE_HINT,
    work({ labels: { a: "b c" } }),
  ],
  [
    'cluster.machines[1].labels.a: is true, not a text; put it in quotes: "true"',
    work({ labels: { a: true } }),
  ],
  [
    'cluster.machines[1].labels["node-role.kubernetes.io/control-plane"]: "node-role.kubernetes.io/control-plane" follows from the role; remove it',
    work({ labels: { "node-role.kubernetes.io/control-plane": "" } }),
  ],
  [
    'cluster.machines[1].labels["kubernetes.io/hostname"]: "kubernetes.io/hostname" is reported by the kubelet itself; remove it',
    work({ labels: { "kubernetes.io/hostname": "x" } }),
  ],
  [
    'cluster.machines[1].labels["app.k8s.io/x"]: "app.k8s.io/x" is reserved for Kubernetes itself; use a prefix of your own, e.g. "example.com/name"',
    work({ labels: { "app.k8s.io/x": "x" } }),
  ],
  [
    'cluster.machines[1].taints[0].key: "node.kubernetes.io/not-ready" is set and removed by Kubernetes itself; use a key of your own',
    work({ taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoExecute" }] }),
  ],
  [
    'cluster.machines[1].taints[1]: "a:NoSchedule" is listed twice; remove one',
    work({
      taints: [
        { key: "a", effect: "NoSchedule" },
        { key: "a", value: "b", effect: "NoSchedule" },
      ],
    }),
  ],
  [
    'cluster.machines: there is no control plane; use 1 or 3 machines with the role "control-plane"',
    cluster({ machines: [worker()] }),
  ],
  [
    "cluster.machines: 2 control planes tolerate no more failures than 1; use 1 or 3, or set cluster.allowEvenControlPlanes: true",
    work({ role: "control-plane" }),
  ],
  [
    'cluster.lost[0]: "w-1" is still under cluster.machines; remove it there if it is dead, or here if it is alive',
    cluster({ lost: ["w-1"] }),
  ],
  ['cluster.lost[1]: "w-9" is listed twice; remove one', cluster({ lost: ["w-9", "w-9"] })],
  [
    'cluster.network.podSubnet: "10.244.0.0" has no length; write "10.244.0.0/32" for this address alone, or a larger block',
    network({ podSubnet: "10.244.0.0" }),
  ],
  [
    'cluster.network.podSubnet: "10.244.0.0/40" is not an IPv4 block; write e.g. "10.244.0.0/16"',
    network({ podSubnet: "10.244.0.0/40" }),
  ],
  [
    'cluster.network.podSubnet: "10.244.1.0/16" does not start its block; write "10.244.0.0/16"',
    network({ podSubnet: "10.244.1.0/16" }),
  ],
  [
    'cluster.network.podSubnet: "fd00::/64" is an IPv6 block; foresail builds IPv4 clusters, write e.g. "10.244.0.0/16"',
    network({ podSubnet: "fd00::/64" }),
  ],
  [
    'cluster.network.podSubnet: "10.97.0.0/16" overlaps serviceSubnet "10.96.0.0/12"; choose two blocks that share no address',
    network({ podSubnet: "10.97.0.0/16" }),
  ],
  [
    'cluster.network.podSubnet: "10.0.0.0/24" has room for 1 nodes (a /24 each) and there are 2 machines; write a larger block',
    network({ podSubnet: "10.0.0.0/24" }),
  ],
  [
    'cluster.network.podSubnet: "10.0.0.0/25" is too small: each node takes a /24; write e.g. a /16',
    network({ podSubnet: "10.0.0.0/25" }),
  ],
  [
    'cluster.network.serviceSubnet: "10.96.0.0/29" is too small for the services of a cluster; write a /28 or larger, e.g. a /16',
    network({ serviceSubnet: "10.96.0.0/29" }),
  ],
  [
    'cluster.network.serviceSubnet: "127.0.0.0/16" overlaps 127.0.0.0/8, which is not routed; choose e.g. a block of 10.0.0.0/8',
    network({ serviceSubnet: "127.0.0.0/16" }),
  ],
  [
    'cluster.machines[1].internalAddress: "10.244.3.1" is in cluster.network.podSubnet "10.244.0.0/16"; choose a block outside the machines\' network',
    work({ internalAddress: "10.244.3.1" }),
  ],
  [
    'cluster.machines[1].internalAddress: "10.96.3.1" is in cluster.network.serviceSubnet "10.96.0.0/12"; choose a block outside the machines\' network',
    work({ internalAddress: "10.96.3.1" }),
  ],
  [
    "cluster.network.plugin: is empty; choose one of bridge, cilium, calico, flannel, none, manifest, chart",
    plugin({}),
  ],
  [
    "cluster.network.plugin: cilium and flannel exclude each other; keep one",
    plugin({ cilium: {}, flannel: {} }),
  ],
  [
    'cluster.network.plugin.celium: is not known; did you mean "cilium"?',
    plugin({ celium: {}, flannel: {} }),
  ],
  [
    'cluster.network.plugin.cilium.version: "latest" is not the version of a chart; write it exactly, e.g. "1.18.2"',
    plugin({ cilium: { version: "latest" } }),
  ],
  [
    'cluster.network.plugin.chart.repository: is missing; write the URL of the repository that has "antrea"',
    plugin({ chart: { chart: "antrea" } }),
  ],
  ["cluster.source.bundle: names no bundle; write path, or url and sha256", bundle({})],
  [
    "cluster.source.bundle.sha256: is missing; write the SHA-256 of the archive at url",
    bundle({ url: "https://example.com/b.tar.gz" }),
  ],
  [
    'cluster.source.bundle.path: "{minor}" is not a placeholder here; {version} is the only one, and becomes MAJOR.MINOR.PATCH',
    bundle({ path: "/opt/bundle/{minor}" }),
  ],
  ['cluster.source.bundle.path: "bundle" is not absolute; start it with "/"', bundle({ path: "bundle" })],
  [
    "cluster.endpoint.loopback.port: 6443 is taken by the API server on every node; choose another, e.g. 7445",
    cluster({ endpoint: { loopback: { port: 6443 } } }),
  ],
  [
    'cluster.endpoint.external.host: "https://lb.example.com" is a URL; write the host name or IPv4 address alone',
    cluster({ endpoint: { external: { host: "https://lb.example.com" } } }),
  ],
  [
    "cluster.kubeadm.clusterConfiguration.networking.podSubnet: is set by foresail; remove it: use cluster.network.podSubnet",
    cluster({ kubeadm: { clusterConfiguration: { networking: { podSubnet: "10.0.0.0/8" } } } }),
  ],
  [
    "cluster.kubeadm.clusterConfiguration.kubernetesVersion: is set by foresail; remove it: use cluster.version",
    cluster({ kubeadm: { clusterConfiguration: { kubernetesVersion: "v1.36.3" } } }),
  ],
  [
    'cluster.kubelet.kind: must be "KubeletConfiguration"; remove it, foresail writes it',
    cluster({ kubelet: { kind: "Pod" } }),
  ],
  [
    'cluster.kubeProxy.apiVersion: must be "kubeproxy.config.k8s.io/v1alpha1"; remove it, foresail writes it',
    cluster({ kubeProxy: { apiVersion: "v1" } }),
  ],
  [
    'cluster.files[0].path: "/etc/kubernetes/pki/ca.crt" may not be written: kubeadm makes the certificates there',
    file({ path: "/etc/kubernetes/pki/ca.crt" }),
  ],
  [
    'cluster.files[0].path: "/etc/../x" is not a plain path; write it without "..", "//" and a "/" at the end',
    file({ path: "/etc/../x" }),
  ],
  [
    'cluster.files[0].mode: "rw" is not a file mode; write it in octal and in quotes, e.g. "0600"',
    file({ mode: "rw" }),
  ],
  [
    'cluster.files[1].path: "/a" is listed twice; remove one',
    cluster({
      files: [
        { path: "/a", content: "" },
        { path: "/a", content: "" },
      ],
    }),
  ],
  [
    "cluster.proxy.http: contains a user or password, which would be stored and shown in plain text; write them to the secret foresail:proxyCredentials",
    cluster({ proxy: { http: "http://u:p@proxy.example.com:3128" } }),
  ],
  [
    'cluster.registries.mirrors["https://docker.io"]: "https://docker.io" is a URL; write the host alone, e.g. "registry.example.com"',
    cluster({ registries: { mirrors: { "https://docker.io": ["https://mirror.example.com"] } } }),
  ],
  [
    'cluster.registries.mirrors["docker.io"]: is empty; list at least one',
    cluster({ registries: { mirrors: { "docker.io": [] } } }),
  ],
  [
    'cluster.caBundle: contains no certificate; write PEM, from "-----BEGIN CERTIFICATE-----" to the END line',
    cluster({ caBundle: "x" }),
  ],
  ["cluster.drain.timeoutSeconds: is 0; write 1 or more", cluster({ drain: { timeoutSeconds: 0 } })],
];

describe("configuration: bad inputs", () => {
  for (const [said, value] of TABLE) {
    it(`says ${said.slice(0, 110)}`, () => assert.deepEqual(issuesOf(reader(value)), [said]));
  }

  it("accepts values that only look wrong", () => {
    const two = [controlPlane(), controlPlane({ name: "cp-2", address: "192.0.2.12" })];
    const good: unknown[] = [
      cluster({ machines: two, allowEvenControlPlanes: true }),
      cluster({ machines: two, lost: ["cp-3"] }),
      work({ address: "w-1.example.com", internalAddress: "192.0.2.21" }),
      work({ hostKey: HOST_KEY, labels: { "node-role.kubernetes.io/gpu": "", a: "" } }),
      work({ address: "192.0.2.11", port: 2022, internalAddress: "192.0.2.12" }),
      cluster({ machines: [controlPlane()] }),
      plugin({ chart: { chart: "oci://registry.example.com/cni" } }),
      bundle({ path: "/opt/bundle" }),
      cluster({ kubelet: { kind: "KubeletConfiguration", maxPods: 200 } }),
      cluster({ registries: { mirrors: { _default: ["https://mirror.example.com"] } } }),
    ];
    for (const value of good) assert.deepEqual(issuesOf(reader(value)), []);
  });
});
