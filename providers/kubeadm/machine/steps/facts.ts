import { NODE_PATHS } from "../../plan/node-paths";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";

/** What a machine reports about itself. */
export interface MachineFacts {
  /** Whether kubeadm init or join has succeeded on it. */
  member: boolean;
  /** Whether it has the files of an API server of this cluster. */
  controlPlane: boolean;
}

/**
 * Finds out whether a machine is a member of this cluster. Answers `MachineFacts` as JSON; refuses foreign machines.
 */
export function factsScript(cluster: string, machine: string): Script {
  return frame(
    "facts",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `member=false; if [ -e ${NODE_PATHS.member} ]; then member=true; fi`,
      "control_plane=false; if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then control_plane=true; fi",
      `printf '{"member":%s,"controlPlane":%s}\\n' "$member" "$control_plane" >&4`,
    ].join("\n"),
  );
}

/** Reads the administrator's kubeconfig of a control plane. Answers its text, which is secret. */
export function adminKubeconfigScript(cluster: string, machine: string): Script {
  return frame(
    "admin-kubeconfig",
    machine,
    [refuseForeignMachine(cluster, machine), "cat /etc/kubernetes/admin.conf >&4"].join("\n"),
  );
}
