import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";
import type { MachineSpecification } from "../../../../../providers/kubeadm/plan/cluster/pools";
import type { Machine } from "../../../../../providers/kubeadm/plan/cluster/machine";
import * as certificates from "../../../../../providers/kubeadm/machine/certificates/certificate-steps";

/** A plain specification; tests override what they are about. */
export function exampleSpecification(
  over: Partial<Omit<ClusterSpecification, "pools">> = {},
): MachineSpecification {
  return {
    name: "demo",
    version: "1.36.3",
    source: { bundle: { path: "/opt/foresail/bundle/v1.36.3" } },
    endpoint: { loopback: { port: 8443 } },
    network: {
      podCidr: "10.244.0.0/16",
      serviceCidr: "10.96.0.0/12",
      dnsDomain: "cluster.local",
      bridge: true,
    },
    kubeadm: {},
    kubelet: {},
    kubeProxy: {},
    files: [],
    registryMirrors: {},
    encryptSecretsAtRest: true,
    ignorePreflightErrors: [],
    ...over,
  };
}

/** A machine named like "cp-1" or "w-2", whose number makes its addresses. */
export function exampleMachine(name: string, over: Partial<Machine> = {}): Machine {
  const controlPlane = name.startsWith("cp");
  const host = (controlPlane ? 10 : 100) + Number(name.replace(/\D+/g, ""));
  return {
    name,
    role: controlPlane ? "control-plane" : "worker",
    group: controlPlane ? "control-plane" : "workers",
    address: `192.0.2.${host}`,
    port: 22,
    user: "admin",
    hostKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHt0ZXN0",
    internalAddress: `10.0.0.${host}`,
    apiServer: `192.0.2.${host}:6443`,
    labels: {},
    taints: [],
    ...over,
  };
}

/** Variables that a script of foresail reads without having set them. */
export const FOREIGN = [
  ...["BASH_COMMAND", "BASH_REMATCH", "EUID", "EXIT", "HOME", "HTTP_PROXY", "ID", "MAINPID", "PIPESTATUS"],
  ...["PRETTY_NAME", "SECONDS", "VERSION_ID"],
];

/** The scripts about certificates, by operation. */
export const certificateScripts = {
  "certificate-ends": certificates.certificateEndsScript("demo", "cp-1"),
  "renew-certificates": certificates.renewCertificatesScript("demo", "cp-1", "all"),
  "await-static-pods": certificates.awaitStaticPodsScript("demo", "cp-1", 600),
  "kubelet-request": certificates.kubeletRequestScript("demo", "w-1"),
  "kubelet-certificate": certificates.kubeletCertificateScript("demo", "w-1"),
};
