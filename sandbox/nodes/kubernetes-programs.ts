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
  readonly coredns: string;
  readonly pause: string;
}

/** An image of a control plane's, and how it is put together. */
interface PlannedImage {
  readonly reference: string;
  /** the program on this machine */
  readonly program: string;
  /** where it lies in the image */
  readonly target: string;
  /** whether it calls iptables */
  readonly iptables: boolean;
}

/** The image of the sandbox's own check: answers HTTP on :8080 with its pod's name. */
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

/** Programs that pods start by the image's own entry point, so their place is what the official image has. */
const ROOT_PROGRAMS: ReadonlySet<string> = new Set(["coredns", "pause"]);

/**
 * The images that kubeadm of that version asks for, each with the program that makes it.
 * @param references what `kubeadm config images list` printed
 * @throws Error for an image that no program is known for, or a program whose image is not asked for
 */
export function planImages(references: readonly string[], programs: KubernetesPrograms): PlannedImage[] {
  const planned = references.map((reference) => {
    const base = reference.replace(/^.*\//, "").replace(/:.*$/, "");
    const name = PROGRAMS.find((program) => program === base);
    if (name === undefined)
      throw new Error(`kubeadm v${programs.version} asks for ${reference}, which is not built here`);
    const target = ROOT_PROGRAMS.has(name) ? `/${name}` : `/usr/local/bin/${name}`;
    return { name, reference, program: programs[name], target, iptables: name === "kube-proxy" };
  });
  const missing = PROGRAMS.find((program) => !planned.some(({ name }) => name === program));
  if (missing !== undefined) throw new Error(`kubeadm v${programs.version} names no image for ${missing}`);
  return planned.map(({ reference, program, target, iptables }) => ({
    reference,
    program,
    target,
    iptables,
  }));
}
