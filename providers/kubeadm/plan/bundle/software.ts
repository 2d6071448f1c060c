import { ownValue } from "../../../../lib/json";
import { KUBERNETES_COMPONENTS } from "../cluster/kubernetes-components";

/** Processors for which bundles are made, with what their programs have in the ELF header's `e_machine`. */
export const ARCHITECTURES = { amd64: 0x3e, arm64: 0xb7 } as const;

export type Architecture = keyof typeof ARCHITECTURES;

/** What runs containers on a machine, as of 2026-11-28. */
export const RUNTIME_VERSIONS = { containerd: "2.4.2", runc: "1.5.3", cniPlugins: "1.10.0" } as const;

/** Versions of the software in a bundle, each MAJOR.MINOR.PATCH. */
export type BundleVersions = { readonly kubernetes: string } & {
  readonly [Name in keyof typeof RUNTIME_VERSIONS]: string;
};

/** A file that a project publishes together with its SHA-256. */
export interface PublishedFile {
  /** In the bundle. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly url: string;
  /** The list with its SHA-256. */
  readonly sums: string;
  /** Where its sources are, as package URLs name them. */
  readonly source: string;
}

/** Programs of Kubernetes that a machine runs. */
export const KUBERNETES_PROGRAMS = ["kubeadm", "kubectl", "kubelet"] as const;

/**
 * Returns the files of a bundle, from where the projects publish them.
 *
 * @param mirror a server that has them under the path HOST/PATH of their own address
 */
export function publishedFiles(
  versions: BundleVersions,
  architecture: Architecture,
  mirror?: string,
): PublishedFile[] {
  const base = mirror === undefined ? "https:/" : mirror.replace(/\/+$/, "");
  const { kubernetes, containerd, runc, cniPlugins } = versions;
  const release = (repository: string, tag: string) =>
    `${base}/github.com/${repository}/releases/download/v${tag}`;
  const programs = KUBERNETES_PROGRAMS.map((name) => {
    const url = `${base}/dl.k8s.io/release/v${kubernetes}/bin/linux/${architecture}/${name}`;
    const source = "kubernetes/kubernetes";
    return { path: `bin/${name}`, name, version: kubernetes, url, sums: `${url}.sha256`, source };
  });
  const runtime = (name: string, version: string, source: string, file: string, sums?: string) => {
    const url = `${release(source, version)}/${file}`;
    const list = sums === undefined ? `${release(source, version)}/${name}.sha256sum` : `${url}${sums}`;
    return { path: `runtime/${file}`, name, version, url, sums: list, source };
  };
  return [
    ...programs,
    runtime(
      "containerd",
      containerd,
      "containerd/containerd",
      `containerd-${containerd}-linux-${architecture}.tar.gz`,
      ".sha256sum",
    ),
    // one list for all processors
    runtime("runc", runc, "opencontainers/runc", `runc.${architecture}`),
    runtime(
      "cni-plugins",
      cniPlugins,
      "containernetworking/plugins",
      `cni-plugins-linux-${architecture}-v${cniPlugins}.tgz`,
      ".sha256",
    ),
  ];
}

/**
 * Returns the SHA-256 of a file from what its project publishes: the digits alone, or a list as `sha256sum` writes it.
 * Returns undefined if the list does not have it.
 */
export function publishedSum(list: string, file: string): string | undefined {
  for (const line of list.split("\n")) {
    const [, sum, name] = /^([0-9a-f]{64})(?:\s+\*?(?:\.\/)?(\S+))?\s*$/i.exec(line) ?? [];
    if (sum !== undefined && (name === undefined || name === file)) return sum.toLowerCase();
  }
  return undefined;
}

/** The registry of Kubernetes' images. */
export const KUBERNETES_REGISTRY = "registry.k8s.io";

/** Returns the names of images that `kubeadm config images list` prints; undefined for a version that is not known here. */
export function kubernetesImages(version: string): string[] | undefined {
  const components = ownValue(KUBERNETES_COMPONENTS, version);
  if (components === undefined) return undefined;
  const { etcd, coredns, pause } = components;
  const own = ["apiserver", "controller-manager", "scheduler", "proxy"].map(
    (name) => `kube-${name}:v${version}`,
  );
  return [...own, `coredns/coredns:${coredns}`, `pause:${pause}`, `etcd:${etcd}`].map(
    (image) => `${KUBERNETES_REGISTRY}/${image}`,
  );
}

/** Returns the name by which kubeadm asks for one of its images with another `imageRepository`. */
export function renamedImage(image: string, repository?: string): string {
  if (repository === undefined || !image.startsWith(`${KUBERNETES_REGISTRY}/`)) return image;
  // kubeadm leaves the folder of CoreDNS out in every registry but its own
  return `${repository}/${image.slice(image.lastIndexOf("/") + 1)}`;
}

/** Returns for which processor a program is, by its first bytes; undefined if it is none that Linux runs. */
export function architectureOf(head: Buffer): Architecture | "other" | undefined {
  if (head.length < 20 || !head.subarray(0, 4).equals(Buffer.from("\x7fELF", "latin1"))) return undefined;
  const machine = head.readUInt16LE(18);
  const known = Object.entries(ARCHITECTURES) as [Architecture, number][];
  return known.find(([, number]) => number === machine)?.[0] ?? "other";
}
