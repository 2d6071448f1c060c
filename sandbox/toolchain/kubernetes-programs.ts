import type { Program } from "./program";

/** The Kubernetes versions that modules/ pins. */
const KUBERNETES_VERSIONS = ["1.37.2", "1.36.3", "1.35.4", "1.34.4"] as const;

const COREDNS_VERSION = "1.13.1";
const PAUSE_VERSION = "1";

/** The nodes are containers, so they run Linux on the processor of this machine. */
const architecture = process.arch === "arm64" ? "arm64" : "amd64";

/** The programs of a Kubernetes release that a cluster runs. */
export const KUBERNETES_FILES = [
  "kubeadm",
  "kubelet",
  "kubectl",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
] as const;

/**
 * One Kubernetes release. Ignores installed programs: images built `FROM scratch` need statically linked programs of
 * one origin, and distributions patch theirs.
 * @throws Error when modules/ has no such version
 */
export function kubernetesRelease(version: string): Program {
  if (!KUBERNETES_VERSIONS.some((known) => known === version)) {
    const known = KUBERNETES_VERSIONS.join(", ");
    throw new Error(`Kubernetes ${version} is not among the sandbox's versions: ${known}`);
  }
  const [major = "", minor = ""] = version.split(".");
  const flag = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;
  const base = `https://dl.k8s.io/release/v${version}/bin/linux/${architecture}`;
  return {
    name: "kubernetes",
    version,
    title: `Kubernetes ${version}`,
    folder: `programs/kubernetes-${version}`,
    files: KUBERNETES_FILES,
    downloads: KUBERNETES_FILES.map((file) => ({
      url: `${base}/${file}`,
      checksums: `${base}/${file}.sha256`,
    })),
    builds: [
      {
        module: `kubernetes-${version}`,
        packages: Object.fromEntries(KUBERNETES_FILES.map((file) => [file, `k8s.io/kubernetes/cmd/${file}`])),
        ldflags: [flag("gitVersion", `v${version}`), flag("gitMajor", major), flag("gitMinor", minor)].join(
          " ",
        ),
        linux: true,
      },
    ],
  };
}

/** kubeadm's own tests of a cluster, of one release. They run on this machine. */
export const kubeadmSuite = (version: string): Program => ({
  name: "kubeadm-suite",
  version,
  title: `kubeadm's tests of Kubernetes ${version}`,
  folder: `programs/kubeadm-suite-${version}`,
  files: ["kubeadm-suite"],
  downloads: [],
  builds: [
    {
      module: `kubernetes-${version}`,
      packages: {},
      tests: { "kubeadm-suite": "k8s.io/kubernetes/test/e2e_kubeadm" },
    },
  ],
});

const corednsArchive = `coredns_${COREDNS_VERSION}_linux_${architecture}.tgz`;
const corednsRelease = `https://github.com/coredns/coredns/releases/download/v${COREDNS_VERSION}`;

/** One release of etcd, from a folder of modules/. */
function etcdRelease(version: string, module: string): Program {
  const archive = `etcd-v${version}-linux-${architecture}`;
  const release = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
  return {
    name: "etcd",
    version,
    title: `etcd ${version}`,
    folder: `programs/etcd-${version}`,
    files: ["etcd"],
    downloads: [
      {
        url: `${release}/${archive}.tar.gz`,
        checksums: `${release}/SHA256SUMS`,
        members: { etcd: `${archive}/etcd` },
      },
    ],
    builds: [{ module, packages: { etcd: "go.etcd.io/etcd/server/v3" }, linux: true }],
  };
}

/** The programs for snapshots of one release of etcd, which its official image has, too. */
function etcdTools(version: string, module: string): Program {
  const archive = `etcd-v${version}-linux-${architecture}`;
  const release = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
  return {
    name: "etcd-tools",
    version,
    title: `etcdctl and etcdutl ${version}`,
    folder: `programs/etcd-tools-${version}`,
    files: ["etcdctl", "etcdutl"],
    downloads: [
      {
        url: `${release}/${archive}.tar.gz`,
        checksums: `${release}/SHA256SUMS`,
        members: { etcdctl: `${archive}/etcdctl`, etcdutl: `${archive}/etcdutl` },
      },
    ],
    builds: [
      {
        module,
        packages: { etcdctl: "go.etcd.io/etcd/etcdctl/v3", etcdutl: "go.etcd.io/etcd/etcdutl/v3" },
        linux: true,
      },
    ],
  };
}

const ETCD_36 = [etcdRelease("3.6.5", "etcd"), etcdTools("3.6.5", "etcd-tools")];
const ETCD_37 = [etcdRelease("3.7.3", "etcd-3.7"), etcdTools("3.7.3", "etcd-tools-3.7")];

/** The programs that a cluster needs besides the release; the same objects for all versions that share them. */
export function clusterPrograms(version: string): readonly Program[] {
  // kubeadm 1.37 is the first one that asks for etcd 3.7
  const etcd = Number(version.split(".")[1]) >= 37 ? ETCD_37 : ETCD_36;
  return [...etcd, COREDNS, PAUSE];
}

const COREDNS: Program = {
  name: "coredns",
  version: COREDNS_VERSION,
  title: `CoreDNS ${COREDNS_VERSION}`,
  folder: `programs/coredns-${COREDNS_VERSION}`,
  files: ["coredns"],
  downloads: [
    {
      url: `${corednsRelease}/${corednsArchive}`,
      checksums: `${corednsRelease}/${corednsArchive}.sha256`,
      members: { coredns: "coredns" },
    },
  ],
  builds: [{ module: "coredns", packages: { coredns: "github.com/coredns/coredns" }, linux: true }],
};

const PAUSE: Program = {
  name: "pause",
  version: PAUSE_VERSION,
  title: "pause",
  folder: `programs/pause-${PAUSE_VERSION}`,
  files: ["pause"],
  downloads: [], // published as an image only
  builds: [{ module: "pause", packages: { pause: "." }, linux: true }],
};
