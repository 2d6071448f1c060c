import { containerNodeSettings, type NodeFleet, type SandboxNode } from "../../sandbox/nodes";
import { silent } from "./site-machines";

export const VERSION = "1.36.3";
/** A name that only the proxy knows. */
export const REPOSITORY_HOST = "packages.example.test";
const AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n  - level: Metadata\n";

/** The name of the Node that is not named as its machine calls itself, as many are that have a domain. */
export const GPU_NODE = "gpu-1.site.example.test";
/** Returns the name of a machine's Node. */
export const nodeNameOf = ({ name }: SandboxNode): string => (name === "gpu-1" ? GPU_NODE : name);

/** Starts the site's machines, whose containerd is the distribution's package, of the oldest supported minor. */
export const siteNodes = (fleet: NodeFleet): Promise<SandboxNode[]> =>
  fleet.ensure(
    ["cp-1", "general-1", "gpu-1"].map((name) => ({
      name,
      bundles: [VERSION],
      variant: { kind: { system: "debian-12" } },
    })),
    silent,
  );

/** What the tests change of the configuration. */
export interface SiteChanges {
  readonly version?: string;
  readonly keyFingerprint?: string;
  readonly podSubnet?: string;
  readonly labels?: Record<string, string>;
  readonly port?: number;
  readonly software?: { containerd?: string; osPackages?: string };
}

/**
 * The cluster of a site with its own package repository, proxy and worker pools.
 * @param nodes a control plane, a worker of pool general and one of pool gpu
 */
export function siteConfiguration(
  nodes: readonly SandboxNode[],
  site: { proxy: string; caBundle: string; keyFingerprint: string },
  {
    keyFingerprint = site.keyFingerprint,
    version = VERSION,
    podSubnet,
    labels = {},
    port,
    software = {},
  }: SiteChanges = {},
): Record<string, unknown> {
  const { kubelet, kubeProxy, kubeadm, ignorePreflightErrors } = containerNodeSettings;
  const roles = [
    { role: "control-plane" },
    { role: "worker", pool: "general", labels: { "example.com/site": "north", ...labels } },
    {
      role: "worker",
      pool: "gpu",
      labels: { "example.com/gpu": "true" },
      taints: [{ key: "example.com/gpu", value: "yes", effect: "NoSchedule" }],
    },
  ];
  return {
    name: "site",
    version,
    ignorePreflightErrors,
    source: {
      packages: { repository: `https://${REPOSITORY_HOST}/core:/stable:/v{minor}/deb/`, keyFingerprint },
    },
    proxy: {
      http: site.proxy,
      https: site.proxy,
      noProxy: ["intranet.example.test"],
    },
    caBundle: site.caBundle,
    registries: {
      mirrors: { "docker.io": ["https://mirror.example.test"], "quay.io": [`${site.proxy}/v2/quay`] },
      servers: { "registry.example.test": `${site.proxy}/registry/v2/own` },
      hosts: { [`${site.proxy}/registry/v2/own`]: { overridePath: true, header: { "X-Site": "north" } } },
    },
    ...(port === undefined ? {} : { endpoint: { loopback: { port } } }),
    network: { plugin: { bridge: {} }, ...(podSubnet === undefined ? {} : { podSubnet }) },
    kubelet: { ...kubelet, maxPods: 64 },
    kubeProxy: { ...kubeProxy, nodePortAddresses: ["127.0.0.0/8"] },
    kubeadm: {
      clusterConfiguration: {
        ...kubeadm.clusterConfiguration,
        apiServer: {
          extraArgs: [
            { name: "audit-policy-file", value: "/etc/kubernetes/audit/policy.yaml" },
            { name: "audit-log-path", value: "/var/log/kubernetes/audit.log" },
          ],
          extraVolumes: [
            {
              name: "audit-policy",
              hostPath: "/etc/kubernetes/audit",
              mountPath: "/etc/kubernetes/audit",
              readOnly: true,
            },
            {
              name: "audit-log",
              hostPath: "/var/log/kubernetes",
              mountPath: "/var/log/kubernetes",
              pathType: "DirectoryOrCreate",
            },
          ],
        },
      },
    },
    files: [
      { path: "/etc/kubernetes/audit/policy.yaml", content: AUDIT_POLICY },
      { path: "/opt/site/notice", content: "hello", mode: "0640", owner: "nobody:nogroup" },
    ],
    timeouts: { sshSeconds: 60 },
    rollout: { software },
    machines: nodes.map((node, index) => ({
      name: nodeNameOf(node),
      address: node.address,
      port: node.sshPort,
      user: node.user,
      hostKey: node.hostKey,
      internalAddress: node.internalAddress,
      ...(index === 0 ? { apiServer: `${node.address}:${node.apiPort}` } : {}),
      ...roles[index],
    })),
  };
}
