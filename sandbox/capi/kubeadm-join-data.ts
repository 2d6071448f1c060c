import { createHash, X509Certificate } from "node:crypto";
import { stringify } from "yaml";
import {
  controlPlaneEndpoint,
  type ClusterSpecification,
} from "../../providers/kubeadm/plan/cluster/specification";
import { quote } from "../../providers/kubeadm/machine/shell";
import { prepareScript } from "../../providers/kubeadm/machine/steps";

/** The instance metadata of a booting machine, with cloud-init's names. */
export interface MachineFacts {
  readonly hostname: string;
  readonly address: string;
  readonly providerID: string;
}

// one Secret serves every machine of a pool; each machine fills in its own metadata
const PLACEHOLDERS: MachineFacts = {
  hostname: "{{ v1.local_hostname }}",
  address: "{{ ds.meta_data.local_ipv4 }}",
  providerID: "{{ ds.meta_data.provider_id }}",
};
/** Values that a script accepts where the placeholders belong. */
const ACCEPTED = { hostname: "hostname.invalid", address: "192.0.2.1" };
const PREPARE = "/run/foresail-prepare";
const CONFIGURATION = "/run/foresail-join.yaml";

/**
 * Returns the script that makes a machine a worker: it runs as root, prepares the machine and runs `kubeadm join` with
 * a token and the hash of the cluster's certificate authority. It is secret because of the token.
 *
 * @param specification of the workload cluster; its endpoint is an address that the machines can reach
 * @param certificateAuthority base64, as a kubeconfig has it
 * @param token of bootstrap, `id.secret`; machines join as long as it lives
 */
export function kubeadmJoinData(
  specification: ClusterSpecification,
  { certificateAuthority, token }: { certificateAuthority: string; token: string },
): string {
  const { hostname, address, providerID } = PLACEHOLDERS;
  const configuration = {
    apiVersion: "kubeadm.k8s.io/v1beta4",
    kind: "JoinConfiguration",
    discovery: {
      bootstrapToken: {
        apiServerEndpoint: controlPlaneEndpoint(specification.endpoint),
        token,
        caCertHashes: [publicKeyHash(certificateAuthority)],
      },
    },
    nodeRegistration: {
      name: hostname,
      criSocket: "unix:///run/containerd/containerd.sock",
      taints: [],
      kubeletExtraArgs: [
        { name: "node-ip", value: address },
        { name: "provider-id", value: providerID },
      ],
      ignorePreflightErrors: specification.ignorePreflightErrors,
    },
  };
  const accepted = {
    name: ACCEPTED.hostname,
    internalAddress: ACCEPTED.address,
    role: "worker" as const,
    group: "workers",
  };
  const prepare = prepareScript(specification, accepted, [])
    .text.replaceAll(ACCEPTED.hostname, hostname)
    .replaceAll(ACCEPTED.address, address);
  return [
    "set -euo pipefail",
    "umask 077",
    writeFile(PREPARE, prepare),
    writeFile(CONFIGURATION, stringify(configuration, { lineWidth: 0 })),
    `bash ${quote(PREPARE)} </dev/null`,
    `kubeadm join --config ${quote(CONFIGURATION)} </dev/null`,
    `rm -f ${quote(PREPARE)} ${quote(CONFIGURATION)}`,
  ].join("\n");
}

/** Returns a shell line that writes a file for root only, under the umask of the script. */
function writeFile(file: string, text: string): string {
  return `printf '%s\\n' ${quote(text)} >${quote(file)}`;
}

/** Returns the join data with the metadata of one machine filled in. */
export function fillIn(data: string, facts: MachineFacts): string {
  return (Object.keys(PLACEHOLDERS) as (keyof MachineFacts)[]).reduce(
    (text, fact) => text.replaceAll(PLACEHOLDERS[fact], facts[fact]),
    data,
  );
}

/** kubeadm's name of a certificate authority: the SHA-256 of its public key's SubjectPublicKeyInfo. */
function publicKeyHash(certificateAuthority: string): string {
  const { publicKey } = new X509Certificate(Buffer.from(certificateAuthority, "base64"));
  const key = publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
