import { NODE_PATHS } from "../../plan/node-paths";
import { CLEAR_HALF_MADE, MARK_MEMBER } from "./init";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";
import { importBundleImages, installKubernetes } from "./software";
import type { ClusterSpecification } from "../../plan/specification";

/** Path where the join step writes the discovery kubeconfig from its data. */
export const DISCOVERY_FILE = `${NODE_PATHS.scratch}/discovery.yaml`;

/** Keys that all control planes share, from kubeadm's manual certificate distribution. */
const SHARED_SECRETS = [
  "pki/ca.crt",
  "pki/ca.key",
  "pki/sa.key",
  "pki/sa.pub",
  "pki/front-proxy-ca.crt",
  "pki/front-proxy-ca.key",
  "pki/etcd/ca.crt",
  "pki/etcd/ca.key",
];

/** Reads what a new control plane needs from another one. Answers a base64 tar archive, which is secret. */
export function controlPlaneSecretsScript(cluster: string, machine: string): Script {
  return frame(
    "control-plane-secrets",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      "cd /etc/kubernetes",
      "encryption=''; if [ -e foresail/encryption.yaml ]; then encryption=foresail/encryption.yaml; fi",
      `tar -cf - ${SHARED_SECRETS.join(" ")} $encryption | base64 -w 0 >&4`,
    ].join("\n"),
  );
}

/** Returns the secret data of a join: three base64 lines, the last one empty for a worker. */
export function joinData(parts: { configuration: string; discovery: string; secrets?: string }): string {
  const encode = (text: string) => Buffer.from(text).toString("base64");
  return `${encode(parts.configuration)}\n${encode(parts.discovery)}\n${parts.secrets ?? ""}\n`;
}

/**
 * Runs kubeadm join, unless the machine is a member. Data: joinData. Its answer is empty.
 *
 * @param specification its version is that of the cluster: the machine may have been prepared for another version,
 * which the rollout installs after the join as on every other node
 */
export function joinScript(
  specification: ClusterSpecification,
  machine: string,
  role: "control-plane" | "worker",
): Script {
  const { name: cluster, source, version } = specification;
  return frame(
    role === "control-plane" ? "join-control-plane" : "join-worker",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `if [ -e ${NODE_PATHS.member} ]; then exit 0; fi`,
      "read -r configuration <&5; read -r discovery <&5; read -r secrets <&5",
      CLEAR_HALF_MADE,
      installKubernetes(source, version),
      importBundleImages(specification, version),
      "mkdir -p $scratch; printf '%s' \"$configuration\" | base64 -d > $scratch/join.yaml",
      `printf '%s' "$discovery" | base64 -d > ${DISCOVERY_FILE}`,
      'if [ -n "$secrets" ]; then mkdir -p /etc/kubernetes; printf \'%s\' "$secrets" | base64 -d | tar -xf - -C /etc/kubernetes; fi',
      "kubeadm join --config $scratch/join.yaml",
      MARK_MEMBER,
    ].join("\n"),
  );
}

/**
 * Makes a member whose Node was deleted register again: the kubelet registers only when it starts, and the built-in
 * network reads the pod CIDR of the new Node. Its answer is empty.
 */
export function registerScript(cluster: string, machine: string): Script {
  return frame(
    "register",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      "systemctl restart kubelet",
      "if systemctl is-enabled --quiet foresail-bridge 2>/dev/null; then systemctl restart --no-block foresail-bridge; fi",
    ].join("\n"),
  );
}
