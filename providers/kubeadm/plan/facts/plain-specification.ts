import { DEFAULT_LOOPBACK_PORT } from "../endpoint/loopback-port";
import { networkOf } from "../cluster/defaults";
import type { MachineSpecification } from "../cluster/pools";
import { COMMUNITY_REPOSITORY } from "../cluster/specification";

/** Returns a cluster of this version with the default of each setting, for machines that no stack has yet. */
export function plainSpecification(version: string): MachineSpecification {
  const { podSubnet: podCidr, serviceSubnet: serviceCidr, dnsDomain } = networkOf();
  return {
    name: "doctor",
    version,
    source: { packages: { repository: COMMUNITY_REPOSITORY } },
    endpoint: { loopback: { port: DEFAULT_LOOPBACK_PORT } },
    network: { podCidr, serviceCidr, dnsDomain, bridge: true },
    kubeadm: {},
    kubelet: {},
    kubeProxy: {},
    files: [],
    registryMirrors: {},
    encryptSecretsAtRest: true,
    ignorePreflightErrors: [],
  };
}
