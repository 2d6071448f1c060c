/** The programs of one Kubernetes version: absolute paths. */
export interface KubernetesPrograms {
  /** such as "1.36.3" */
  readonly version: string;
  readonly kubeadm: string;
  readonly kubelet: string;
  readonly kubectl: string;
  readonly "kube-apiserver": string;
  readonly "kube-controller-manager": string;
  readonly "kube-scheduler": string;
  readonly "kube-proxy": string;
  readonly etcd: string;
  readonly etcdctl: string;
  readonly etcdutl: string;
  readonly coredns: string;
  readonly pause: string;
}

/** An image of the control plane, and how it is assembled. */
interface PlannedImage {
  readonly reference: string;
  /** the programs on this machine, in the order of `targets` */
  readonly programs: readonly string[];
  /** their paths in the image; the first one is its entry point */
  readonly targets: readonly string[];
  /** whether it calls iptables */
  readonly iptables: boolean;
}

/** The image of the sandbox's check, which answers HTTP on :8080 with its pod's name. */
export const ECHO_IMAGE = "foresail.local/echo:1";

const PROGRAMS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "etcd",
  "coredns",
  "pause",
] as const;

/** Programs that an official image has besides the one that it is named after. */
const BESIDE: Partial<Record<string, readonly ("etcdctl" | "etcdutl")[]>> = { etcd: ["etcdctl", "etcdutl"] };

/** Programs that pods start through the image's entry point, so their paths match the official images. */
const ROOT_PROGRAMS: ReadonlySet<string> = new Set(["coredns", "pause"]);

/**
 * Returns the images that kubeadm of that version requires, each with its program.
 * @param references what `kubeadm config images list` printed
 * @throws Error for an image without a known program, or a program whose image is not required
 */
export function planImages(references: readonly string[], programs: KubernetesPrograms): PlannedImage[] {
  const planned = references.map((reference) => {
    const base = reference.replace(/^.*\//, "").replace(/:.*$/, "");
    const name = PROGRAMS.find((program) => program === base);
    if (name === undefined)
      throw new Error(`kubeadm v${programs.version} asks for ${reference}, which is not built here`);
    const files = [name, ...(BESIDE[name] ?? [])];
    const folder = ROOT_PROGRAMS.has(name) ? "/" : "/usr/local/bin/";
    return {
      name,
      reference,
      programs: files.map((file) => programs[file]),
      targets: files.map((file) => `${folder}${file}`),
      iptables: name === "kube-proxy",
    };
  });
  const missing = PROGRAMS.find((program) => !planned.some(({ name }) => name === program));
  if (missing !== undefined) throw new Error(`kubeadm v${programs.version} names no image for ${missing}`);
  return planned.map(({ name: _, ...image }) => image);
}
