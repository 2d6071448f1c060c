import { rootCertificates } from "node:tls";
import fc from "fast-check";
import type { KubeadmClusterArgs, MachineArgs } from "../../../../components/kubeadm/kubeadm-cluster-args";

export type Args = KubeadmClusterArgs;

/** What every cluster runs before the edit. */
export const VERSION = "1.36.2";
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const RECIPIENT = "age19rq8242fqpzlwam5zpjsklrech9jxz0c32h4l7vcrl6et35ty3ls9r82xy";

/** One change of the configuration, and what its preview must contain. */
export interface Edit {
  /** Whether it may not be refused. */
  accepted?: true;
  what: string;
  apply: (args: Args) => Args;
  /** Machines that a line or a refusal has to name. */
  machines?: (args: Args) => string[];
  /** What a refusal has to name. */
  refused?: string;
  /** Whether it only changes how machines are reached, so that it is recorded and no machine is changed. */
  isRecorded?: true;
  /** Whether it only affects later runs, so that nothing is listed now. */
  later?: true;
}

const index = Object.fromEntries(
  ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3", "g-1", "g-2"].map((n, i) => [n, i]),
);
const machine = (name: string, over: Partial<MachineArgs> = {}): MachineArgs => ({
  name,
  role: name.startsWith("cp") ? "control-plane" : "worker",
  address: `192.0.2.${10 + index[name]!}`,
  hostKey: HOST_KEY,
  ...(name.startsWith("g") ? { pool: "gpu" } : {}),
  ...over,
});

/** A cluster as its configuration may have it. */
export const cluster = fc
  .record({
    planes: fc.constantFrom(1, 3),
    workers: fc.integer({ min: 0, max: 2 }),
    gpu: fc.integer({ min: 0, max: 2 }),
    labels: fc.boolean(),
    settings: fc.boolean(),
  })
  .map(({ planes, workers, gpu, labels, settings }): Args => {
    const named = (prefix: string, count: number, over = {}) =>
      Array.from({ length: count }, (_, at) => machine(`${prefix}-${at + 1}`, over));
    const set = labels
      ? { labels: { zone: "a" }, taints: [{ key: "gpu", effect: "NoSchedule" as const }] }
      : {};
    return {
      version: VERSION,
      network: { plugin: { bridge: {} } },
      source: { bundle: { path: "/opt/bundle/{version}" } },
      ssh: { privateKey: "KEY" },
      allowEvenControlPlanes: true,
      machines: [...named("cp", planes), ...named("w", workers), ...named("g", gpu, set)],
      ...(settings
        ? {
            kubelet: { maxPods: 50 },
            files: [{ path: "/etc/motd", content: "hello" }],
            proxy: { http: "http://192.0.2.99:3128" },
            registries: { mirrors: { "docker.io": ["https://mirror.example.org"] } },
          }
        : {}),
    };
  });

const workersOf = (args: Args) => args.machines.filter(({ role }) => role === "worker");
const lastWorker = (args: Args) =>
  workersOf(args)
    .slice(-1)
    .map(({ name }) => name);
const without = (args: Args, names: string[]): Args => ({
  ...args,
  machines: args.machines.filter(({ name }) => !names.includes(name)),
});
/** Another value of the last worker, or of the last control plane where there is none. */
const lastMachine = (args: Args) => args.machines.slice(-1).map(({ name }) => name);
const ofLast =
  (over: Partial<MachineArgs>) =>
  (args: Args): Args => ({
    ...args,
    machines: args.machines.map((each, at) =>
      at === args.machines.length - 1 ? { ...each, ...over } : each,
    ),
  });
const set = (what: string, refused: string, over: Partial<Args>): Edit => ({
  what,
  refused,
  apply: (args) => ({ ...args, ...over }),
});
/** A change that each of these machines gets. */
const rolls = (what: string, machines: Edit["machines"], over: Partial<Args>): Edit => ({
  what,
  accepted: true,
  machines,
  apply: (args) => ({ ...args, ...over }),
});
const everyControlPlane = (args: Args) => everyMachine(args).filter((name) => name.startsWith("cp"));
const everyMachine = (args: Args) => args.machines.map(({ name }) => name);
const later = (what: string, over: Partial<Args>): Edit => ({
  what,
  later: true,
  apply: (args) => ({ ...args, ...over }),
});

const lists = (what: string, over: Partial<Args>): Edit => ({
  ...{ what, apply: (args) => ({ ...args, ...over }), machines: everyMachine },
});

/** Every kind of edit. */
export const EDITS: Edit[] = [
  {
    what: "another worker",
    apply: (args) => ({ ...args, machines: [...args.machines, machine("w-3")] }),
    machines: () => ["w-3"],
  },
  {
    what: "another control plane",
    apply: (args) =>
      everyMachine(args).includes("cp-2") ? args : { ...args, machines: [...args.machines, machine("cp-2")] },
    machines: (args) => (everyMachine(args).includes("cp-2") ? [] : ["cp-2"]),
  },
  { what: "a worker less", apply: (args) => without(args, lastWorker(args)), machines: lastWorker },
  {
    what: "a lost worker",
    apply: (args) => ({ ...without(args, lastWorker(args)), lost: lastWorker(args) }),
    machines: lastWorker,
  },
  {
    what: "no worker",
    apply: (args) =>
      without(
        args,
        workersOf(args).map(({ name }) => name),
      ),
    machines: (args) => workersOf(args).map(({ name }) => name),
  },
  {
    what: "a control plane less",
    apply: (args) => without(args, ["cp-3"]),
    machines: (args) => everyMachine(args).filter((name) => name === "cp-3"),
  },
  {
    what: "two control planes less",
    apply: (args) => without(args, ["cp-2", "cp-3"]),
    machines: (args) => everyMachine(args).filter((name) => ["cp-2", "cp-3"].includes(name)),
  },
  {
    what: "another pool",
    apply: (args) => (workersOf(args).length > 0 ? ofLast({ pool: "other" })(args) : args),
    machines: (args) => lastMachine(args).filter((n) => !n.startsWith("cp")),
  },
  { what: "a label", apply: ofLast({ labels: { zone: "b" } }), machines: lastMachine },
  {
    what: "a taint",
    apply: ofLast({ taints: [{ key: "x", value: "y", effect: "NoExecute" }] }),
    machines: lastMachine,
  },
  { what: "a port", apply: ofLast({ port: 2222 }), machines: lastMachine, isRecorded: true },
  { what: "a user", apply: ofLast({ user: "ops" }), machines: lastMachine, isRecorded: true },
  {
    what: "a host key",
    apply: ofLast({ hostKey: HOST_KEY.replace("AgME", "AwME") }),
    machines: lastMachine,
    isRecorded: true,
  },
  { what: "an address", apply: ofLast({ address: "192.0.2.200" }), machines: lastMachine, isRecorded: true },
  {
    what: "an API server's address",
    apply: (args) => ({
      ...args,
      machines: args.machines.map((each) =>
        each.name === "cp-1" ? { ...each, apiServer: "192.0.2.222:6443" } : each,
      ),
    }),
    machines: () => ["cp-1"],
    isRecorded: true,
  },
  {
    what: "a jump host",
    apply: (args) => ({
      ...args,
      ssh: { ...args.ssh, jumpHost: { address: "192.0.2.240", hostKey: HOST_KEY } },
    }),
    isRecorded: true,
  },
  { what: "an internal address", apply: ofLast({ internalAddress: "10.9.9.9" }), machines: lastMachine },
  rolls("kubelet", everyMachine, { kubelet: { maxPods: 99 } }),
  rolls("kube-proxy", undefined, { kubeProxy: { mode: "nftables" } }),
  rolls("ClusterConfiguration", everyControlPlane, {
    kubeadm: { clusterConfiguration: { controllerManager: { extraArgs: [{ name: "v", value: "2" }] } } },
  }),
  rolls("the profile", everyMachine, { profile: "cis" }),
  rolls("authentication", everyControlPlane, {
    authentication: {
      oidc: [
        {
          issuer: { url: "https://id.example.org", audiences: ["kubernetes"] },
          claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
        },
      ],
    },
  }),
  set("InitConfiguration", "initConfiguration", {
    kubeadm: { initConfiguration: { skipPhases: ["preflight"] } },
  }),
  rolls("a file", everyMachine, { files: [{ path: "/etc/issue", content: "other" }] }),
  rolls("a file's mode and owner", everyMachine, {
    files: [{ path: "/etc/motd", content: "hello", mode: "0600", owner: "daemon:daemon" }],
  }),
  rolls("the proxy", everyMachine, { proxy: { https: "http://192.0.2.98:3128" } }),
  rolls("hosts without a proxy", everyMachine, {
    proxy: { http: "http://192.0.2.99:3128", noProxy: ["example.org"] },
  }),
  rolls("a mirror", everyMachine, { registries: { mirrors: { "quay.io": ["https://m.example.org"] } } }),
  rolls("a registry's server", everyMachine, {
    registries: { servers: { "quay.io": "https://quay.example.org/v2/quay" } },
  }),
  rolls("how a mirror is asked", everyMachine, {
    registries: {
      mirrors: { "quay.io": ["https://m.example.org"] },
      hosts: {
        "https://m.example.org": {
          overridePath: true,
          skipVerify: true,
          ca: ["/etc/ssl/certs/site.pem"],
          header: { "X-Site": "eu1" },
          capabilities: ["pull"],
        },
      },
    },
  }),
  rolls("the settings of a pool", everyControlPlane, {
    pools: {
      "control-plane": {
        kubelet: { maxPods: 98 },
        files: [{ path: "/etc/issue", content: "other" }],
        registries: { mirrors: { "quay.io": ["https://m.example.org"] } },
      },
    },
  }),
  set("etcd", "clusterConfiguration.etcd", {
    kubeadm: { clusterConfiguration: { etcd: { local: { dataDir: "/var/lib/other" } } } },
  }),
  set("the kubelet's cgroups", "kubelet.cgroupDriver", { kubelet: { cgroupDriver: "cgroupfs" } }),
  set("the image repository", "imageRepository", { imageRepository: "registry.example.org/k8s" }),
  rolls("the certificates", everyMachine, { caBundle: rootCertificates[0] }),
  rolls("a certificate name", everyControlPlane, { certificateNames: ["k8s.example.org"] }),
  set("encryption at rest", "encryptSecretsAtRest", { encryptSecretsAtRest: false }),
  set("the pod network's block", "podSubnet", {
    network: { plugin: { bridge: {} }, podSubnet: "10.200.0.0/16" },
  }),
  set("the Services' block", "serviceSubnet", {
    network: { plugin: { bridge: {} }, serviceSubnet: "10.112.0.0/12" },
  }),
  set("the DNS domain", "dnsDomain", { network: { plugin: { bridge: {} }, dnsDomain: "k8s.example.org" } }),
  set("the loopback port", "endpoint", { endpoint: { loopback: { port: 9443 } } }),
  set("the adoption", "cluster.adopt", {
    ...{ adopt: true, encryptSecretsAtRest: false },
    network: { plugin: { none: {} } },
  }),
  set("the endpoint", "endpoint", { endpoint: { external: { host: "192.0.2.250", port: 6443 } } }),
  set("a lower minor", "version", { version: "1.35.4" }),
  {
    what: "JoinConfiguration",
    apply: (args) => ({ ...args, kubeadm: { joinConfiguration: { skipPhases: ["preflight"] } } }),
  },
  { what: "the version", apply: (args) => ({ ...args, version: "1.36.3" }), machines: everyMachine },
  {
    what: "the source",
    apply: (args) => ({
      ...args,
      source: {
        packages: { repository: "https://pkgs.example.org/{minor}/", keyFingerprint: "A1".repeat(20) },
      },
    }),
    machines: everyMachine,
  },
  {
    what: "a bundle's URL",
    apply: (args) => ({
      ...args,
      source: { bundle: { url: "https://files.example.org/{version}.tar.gz", sha256: "0".repeat(64) } },
    }),
    machines: everyMachine,
  },
  lists("another version to stop at", { rollout: { intermediateVersions: ["1.35.4"] } }),
  lists("another containerd", { rollout: { software: { containerd: "2.1.5-1" } } }),
  lists("updates of packages", { rollout: { software: { osPackages: "2026-11-25" } } }),
  lists("updates of the operating system", { rollout: { osUpdates: { security: false } } }),
  lists("what is done about drift", { drift: "repair" }),
  lists("ignored errors", { ignorePreflightErrors: ["Swap"] }),
  lists("the agents' annotations", { rollout: { annotations: "[software].example.org" } }),
  {
    what: "registry credentials",
    apply: (args) => ({
      ...args,
      registries: {
        ...args.registries,
        credentials: { "docker.io": { username: "u", password: "hunter2" } },
      },
    }),
    machines: everyMachine,
  },
  {
    what: "the encryption key",
    apply: (args) => ({ ...args, encryptionKeyGeneration: 2 }),
    machines: everyControlPlane,
  },
  { what: "the SSH key", apply: (args) => ({ ...args, ssh: { privateKey: "hunter2" } }) },
  later("a name under lost", { lost: ["w-9"] }),
  later("the rollout's settings", { rollout: { maxUnavailable: 2 } }),
  later("how many machines may be unreachable", { rollout: { unreachable: "10%" } }),
  later("how nodes are drained", { drain: { force: true } }),
  later("when certificates are renewed", { certificates: { renewBeforeDays: 20 } }),
  later("the snapshots", { backup: { folder: "/srv/snapshots", recipients: [RECIPIENT], keep: 3 } }),
  later("the protection", { deletionProtection: true }),
  later("an even number of control planes", { allowEvenControlPlanes: false }),
  later("how long a connection may take", { ssh: { privateKey: "KEY", dialTimeoutSeconds: 20 } }),
  later("whether host keys are required", { ssh: { privateKey: "KEY", requireHostKeys: true } }),
  later("deadlines", { timeouts: { joinSeconds: 601 } }),
];
