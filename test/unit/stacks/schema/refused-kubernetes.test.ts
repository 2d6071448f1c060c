import { refuses, type RefusedInputs } from "./issues";
import { cluster, cloudReader, controlPlane, OPENSTACK, TUMBLEBUG, worker } from "./valid";

const control = (fields: Record<string, unknown>) => cluster({ machines: [controlPlane(fields), worker()] });
const init = (value: unknown) => cluster({ kubeadm: { clusterConfiguration: value } });
const join = (value: unknown) => cluster({ kubeadm: { joinConfiguration: value } });
const endpoint = (value: unknown) => cluster({ endpoint: value });
const external = (host: string, port = 6443) => endpoint({ external: { host, port } });
const paused = (...pausedNodes: string[]) => ({ rollout: { pausedNodes } });

const packages = (value: unknown) => cluster({ source: { packages: value } });
const MISSING_KEY =
  "cluster.source.packages.keyFingerprint: is missing; write the fingerprint of the repository's key: `gpg --show-keys Release.key` prints it, and the repository's operator confirms it";
const DIGEST = `sha256:${"0".repeat(64)}`;
const OWN_TAINT = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
const OWN_TAINT_ISSUE =
  '"node-role.kubernetes.io/control-plane:NoSchedule" is set on every control plane by foresail; remove it';
const NULL = "is empty, which would remove what is set there; write a value, or remove the line";
const openstack = (over: Record<string, unknown>, of: Record<string, unknown> = {}) =>
  cloudReader("openstack", { ...OPENSTACK, ...over }, of);
const tumblebug = (over: Record<string, unknown>, of: Record<string, unknown> = {}) =>
  cloudReader("tumblebug", { ...TUMBLEBUG, ...over }, of);
const pool = (name: string, over: Record<string, unknown> = {}) => ({ ...OPENSTACK.pools[1], name, ...over });
const pools = (...list: unknown[]) => openstack({ pools: [OPENSTACK.pools[0], ...list] });

/** Wrong inputs by the class that they are of; each is refused with exactly this line. */
const TABLE: RefusedInputs = {
  "a digest that checks nothing": [
    [
      'cluster.network.plugin.cilium.digest: "56b6" is not a digest; write "sha256:" and 64 lower-case hexadecimal digits, as `sha256sum` prints them',
      cluster({ network: { plugin: { cilium: { digest: "56b6" } } } }),
    ],
    [
      "cluster.network.plugin.chart.digest: belongs to a chart of a repository; remove it",
      cluster({ network: { plugin: { chart: { chart: "oci://example.com/a", digest: DIGEST } } } }),
    ],
    [
      "cluster.network.plugin.manifest.digest: belongs to a URL; remove it",
      cluster({ network: { plugin: { manifest: { path: "a.yaml", digest: DIGEST } } } }),
    ],
  ],
  "a repository whose packages nothing vouches for": [
    [
      'cluster.source.packages.repository: "http://pkgs.example.com/deb/" is not an https URL; write e.g. "https://host.example.com/path"',
      packages({ repository: "http://pkgs.example.com/deb/", keyFingerprint: "A1".repeat(20) }),
    ],
    [MISSING_KEY, packages({ repository: "https://pkgs.example.com/deb/" })],
    [MISSING_KEY, packages({ repository: "https://pkgs.k8s.io.example.com/deb/" })],
    [MISSING_KEY, packages({ repository: "https://pkgs.example.com/https://pkgs.k8s.io/" })],
    [
      'cluster.source.packages.keyFingerprint: "DE15 B144" is not the fingerprint of a key; write its 40 hexadecimal digits without spaces, as `gpg --show-keys Release.key` prints them',
      packages({ keyFingerprint: "DE15 B144" }),
    ],
  ],
  "a null that would remove what foresail sets": [
    [`cluster.kubeadm.clusterConfiguration.apiServer: ${NULL}`, init({ apiServer: null })],
    [`cluster.kubeadm.clusterConfiguration.etcd.local: ${NULL}`, init({ etcd: { local: null } })],
    [
      `cluster.kubeadm.clusterConfiguration.apiServer.extraArgs[0].value: ${NULL}`,
      init({ apiServer: { extraArgs: [{ name: "v", value: null }] } }),
    ],
    [`cluster.kubeadm.joinConfiguration.nodeRegistration: ${NULL}`, join({ nodeRegistration: null })],
    [`cluster.kubelet.cgroupDriver: ${NULL}`, cluster({ kubelet: { cgroupDriver: null } })],
    [
      `cluster.kubelet.registerWithTaints[0].value: ${NULL}`,
      cluster({ kubelet: { registerWithTaints: [{ key: "a", effect: "NoSchedule", value: null }] } }),
    ],
    [`cluster.kubeProxy.mode: ${NULL}`, cluster({ kubeProxy: { mode: null } })],
    ["cluster.kubeadm.clusterConfiguration: is empty; write a map of names to values", init(null)],
  ],
  "a value that would replace a map or a list of foresail's": [
    [
      "cluster.kubeadm.clusterConfiguration.apiServer: is a list; write a map with the fields certSANs, extraArgs, extraEnvs, extraVolumes",
      init({ apiServer: [] }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.networking: is a string; write a map with the fields dnsDomain, podSubnet, serviceSubnet",
      init({ networking: "10.0.0.0/8" }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.apiServer.certSANs: is a string; write a list of texts",
      init({ apiServer: { certSANs: "api.example.com" } }),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.certSANs[3]: "api_server" is not a DNS name; write labels of lower-case letters, digits and dashes, joined by dots',
      init({ apiServer: { certSANs: ["*.example.com", "192.0.2.1", "2001:db8::1", "api_server"] } }),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.apiSever: is not known; did you mean "apiServer"?',
      init({ apiSever: {} }),
    ],
    [
      "cluster.kubelet.systemReserved.cpu: is a number; write a text, in quotes",
      cluster({ kubelet: { systemReserved: { cpu: 1 } } }),
    ],
    [
      "cluster.kubelet.featureGates.X: is a string; write true or false, without quotes",
      cluster({ kubelet: { featureGates: { X: "true" } } }),
    ],
  ],
  "extraArgs that are not a list of {name, value}": [
    [
      'cluster.kubeadm.clusterConfiguration.apiServer.extraArgs: is a map, as kubeadm\'s older v1beta3 had it; write a list of {name, value}, e.g. [{name: "v", value: "4"}]',
      init({ apiServer: { extraArgs: { v: "4" } } }),
    ],
    [
      'cluster.kubeadm.joinConfiguration.nodeRegistration.kubeletExtraArgs: is a map, as kubeadm\'s older v1beta3 had it; write a list of {name, value}, e.g. [{name: "v", value: "4"}]',
      join({ nodeRegistration: { kubeletExtraArgs: { v: "4" } } }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.scheduler.extraArgs[0].value: is a number; put it in quotes",
      init({ scheduler: { extraArgs: [{ name: "v", value: 4 }] } }),
    ],
    [
      'cluster.kubeadm.clusterConfiguration.scheduler.extraArgs[0].name: "--v" begins with a dash; write the name without it',
      init({ scheduler: { extraArgs: [{ name: "--v", value: "4" }] } }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.scheduler.extraArgs[0].valeu: is not known; an argument has name and value",
      init({ scheduler: { extraArgs: [{ name: "v", value: "4", valeu: "" }] } }),
    ],
    [
      "cluster.kubeadm.clusterConfiguration.scheduler.extraArgs[0]: is a string; write {name: …}",
      init({ scheduler: { extraArgs: ["--v=4"] } }),
    ],
  ],
  "the taint that each control plane has anyway": [
    [`cluster.machines[0].taints[0]: ${OWN_TAINT_ISSUE}`, control({ taints: [OWN_TAINT] })],
    [
      `openstack.pools[0].taints[0]: ${OWN_TAINT_ISSUE}`,
      openstack({ pools: [{ ...OPENSTACK.pools[0], taints: [OWN_TAINT] }] }),
    ],
    [
      `tumblebug.groups[0].taints[0]: ${OWN_TAINT_ISSUE}`,
      tumblebug({ groups: [{ ...TUMBLEBUG.groups[0], taints: [OWN_TAINT] }, TUMBLEBUG.groups[1]] }),
    ],
    [
      `cluster.kubeadm.joinConfiguration.nodeRegistration.taints[0]: ${OWN_TAINT_ISSUE}`,
      join({ nodeRegistration: { taints: [{ effect: "NoSchedule", key: OWN_TAINT.key }] } }),
    ],
    [
      'openstack.pools[1].taints[1]: "a:NoExecute" is listed twice; remove one',
      pools(
        pool("w", {
          taints: [
            { key: "a", effect: "NoExecute" },
            { key: "a", value: "b", effect: "NoExecute" },
          ],
        }),
      ),
    ],
  ],
  "a paused node that no machine is": [
    [
      'cluster.rollout.pausedNodes[0]: "w-9" is not a machine of this cluster; did you mean "w-1"?',
      cluster(paused("w-9")),
    ],
    [
      'cluster.rollout.pausedNodes[0]: "w-1" is not a machine of this cluster; there are cp-1-<hash>, w-1-<hash>, w-2-<hash>',
      openstack({}, paused("w-1")),
    ],
    [
      'cluster.rollout.pausedNodes[0]: "x-3-abcde" is not a machine of this cluster; there are cp-1-<hash>, w-1-<hash>, w-2-<hash>',
      openstack({}, paused("x-3-abcde")),
    ],
    [
      'cluster.rollout.pausedNodes[1]: "x-3" is not a machine of this cluster; there are cp-1, w-1, w-2',
      tumblebug({}, paused("w-1", "x-3")),
    ],
    [
      'cluster.rollout.pausedNodes[1]: "w-1" is listed twice; remove one',
      tumblebug({}, paused("w-1", "w-1")),
    ],
  ],
  "an external etcd": [
    [
      "cluster.kubeadm.clusterConfiguration.etcd.external: is not supported: foresail runs etcd on the control planes, and checks its members when they join and leave; remove it, and put settings of etcd under etcd.local",
      cluster({
        kubeadm: { clusterConfiguration: { etcd: { external: { endpoints: ["https://h:2379"] } } } },
      }),
    ],
  ],
  "values that lose the mode of Cilium's addresses": ["x", null, [], { mode: "" }, { mode: 1 }].map(
    (ipam) => [
      "cluster.network.plugin.cilium.values.ipam: removes the mode that foresail sets, so that pods would get addresses outside of network.podSubnet; write a map with mode: kubernetes, or remove it",
      cluster({ network: { plugin: { cilium: { values: { ipam } } } } }),
    ],
  ),
  "a port that another program has": [
    ...(
      [
        [22, "SSH"],
        [2379, "etcd"],
        [2381, "etcd"],
        [10250, "the kubelet"],
        [10256, "kube-proxy"],
        [10257, "kube-controller-manager"],
        [10259, "kube-scheduler"],
        [30000, "node ports (30000 to 32767)"],
        [32767, "node ports (30000 to 32767)"],
      ] as const
    ).flatMap(([port, owner]): [string, Record<string, unknown>][] => [
      [
        `cluster.endpoint.loopback.port: ${port} is taken by ${owner} on every node; choose another, e.g. 7445`,
        endpoint({ loopback: { port } }),
      ],
      [
        `cluster.endpoint.external.port: ${port} is taken by ${owner}; choose another, e.g. 6443`,
        external("lb.example.com", port),
      ],
      [
        `cluster.machines[0].apiServer: ${port} is taken by ${owner}; choose another, e.g. 6443`,
        control({ apiServer: `192.0.2.11:${port}` }),
      ],
    ]),
    [
      "cluster.endpoint.loopback.port: 8443 is the port of SSH on cp-1; choose another, e.g. 7443",
      cluster({ ssh: { port: 8443 }, endpoint: { loopback: { port: 8443 } } }),
    ],
    [
      "openstack.endpoint.loopback.port: 8443 is the port of SSH on each machine; choose another, e.g. 7443",
      openstack({ endpoint: { loopback: { port: 8443 } } }, { ssh: { port: 8443 } }),
    ],
    [
      "tumblebug.endpoint.nlb.port: 10250 is taken by the kubelet; choose another, e.g. 6443",
      tumblebug({ endpoint: { nlb: { port: 10250 } } }),
    ],
    [
      "openstack.endpoint.loopback.port: 2381 is taken by etcd on every node; choose another, e.g. 7445",
      openstack({ endpoint: { loopback: { port: 2381 } } }),
    ],
  ],
  "an external endpoint that is not a load balancer": [
    ...["127.0.0.1", "127.1.2.3", "localhost", "LocalHost", "a.localhost"].map(
      (host): [string, Record<string, unknown>] => [
        `cluster.endpoint.external.host: "${host}" is each machine itself, and no load balancer; write its address, or use endpoint.loopback`,
        external(host),
      ],
    ),
    [
      'cluster.endpoint.external.host: "0.0.0.0" is not the address of one machine; write e.g. "192.0.2.11"',
      external("0.0.0.0"),
    ],
    [
      'cluster.endpoint.external.host: "10.96.0.1" is in cluster.network.serviceSubnet "10.96.0.0/12", which nodes reach only inside the cluster; write an address outside of it',
      external("10.96.0.1"),
    ],
    [
      'cluster.endpoint.external.host: "192.0.2.21" is the worker "w-1", which has no API server; write the address of the load balancer',
      external("192.0.2.21"),
    ],
    [
      'openstack.endpoint.external.host: "10.244.0.1" is in cluster.network.podSubnet "10.244.0.0/16", which nodes reach only inside the cluster; write an address outside of it',
      openstack({ endpoint: { external: { host: "10.244.0.1" } } }),
    ],
  ],
};

refuses(TABLE);
