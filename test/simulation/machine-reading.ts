import type { MachineState } from "./fleet-files";

/** Returns the machine's time in seconds since 1970, if a test says how it differs. */
export const clockOf = ({ clockOffset }: MachineState) =>
  clockOffset === undefined ? undefined : Math.round(Date.now() / 1000) + clockOffset;

/** What a simulated preparation changes, as a machine tells it. */
const CHANGES = [
  "package containerd",
  ...["kubeadm", "kubelet", "kubectl"].map((name) => `program ${name}`),
  "setting net.ipv4.ip_forward = 1",
  "file /etc/sysctl.d/90-foresail.conf",
];
const IMAGES = ["etcd:3.6.6-0", "coredns/coredns:v1.13.1", "pause:3.10.1"];

function preparationOf({ prepared }: MachineState): Record<string, string> {
  const images = IMAGES.map((image) => `registry.k8s.io/${image}`).join("\n");
  if (prepared) return { prepared: "yes", images };
  const due = ["begin", ...CHANGES].join("\n");
  return { due, images, packages: "containerd 2.2.1-1", packageLists: "current" };
}

/** Returns what a machine says before it becomes a node, by the name of the fact. */
export function readingOf(state: MachineState, machine: string): Record<string, string> {
  const clock = clockOf(state);
  const foreign = `${machine}: /etc/kubernetes contains files that foresail did not create`;
  return {
    ...(state.foreign && !state.marker ? { "refusal.foreign": foreign } : {}),
    ...(clock === undefined ? {} : { clock: String(clock) }),
    ...(state.member ? { member: "yes" } : { ...preparationOf(state), ...state.reading }),
  };
}
