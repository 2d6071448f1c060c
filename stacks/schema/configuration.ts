import type * as pulumi from "@pulumi/pulumi";
import type { AzimuthSection } from "./azimuth";
import type { BaseCluster } from "./cluster";
import type { ClusterConfiguration } from "./cluster-rules";
import type { MachinePoolSection } from "./machine-pool";
import type { OpenstackSection } from "./openstack";
import type { ApplicationCredential, RegistryCredential, TumblebugCredentials } from "./secrets";
import type { TumblebugSection } from "./tumblebug";

/** The complete, valid configuration of a stack. Secrets are secret outputs. */
export type Configuration = KubeadmConfiguration | AzimuthConfiguration | MachinePoolConfiguration;

/** The configuration of a stack with a kubeadm cluster. */
export type KubeadmConfiguration = SshConfiguration | OpenstackConfiguration | TumblebugConfiguration;

/** A stack on existing machines. */
export interface SshConfiguration extends MachineSecrets {
  system: "ssh";
  cluster: ClusterConfiguration;
}

/** A stack on servers of an OpenStack cloud. */
export interface OpenstackConfiguration extends MachineSecrets {
  system: "openstack";
  cluster: BaseCluster;
  openstack: OpenstackSection;
  cloudApplicationCredential?: pulumi.Output<ApplicationCredential>;
}

/** A stack on VMs from a CB-Tumblebug server. */
export interface TumblebugConfiguration extends MachineSecrets {
  system: "tumblebug";
  cluster: BaseCluster;
  tumblebug: TumblebugSection;
  tumblebugCredentials?: pulumi.Output<TumblebugCredentials>;
}

/** A stack with a cluster through Azimuth. */
export interface AzimuthConfiguration {
  system: "azimuth";
  azimuth: AzimuthSection;
  managementKubeconfig: pulumi.Output<string>;
}

/** A stack with one MachinePool on a management cluster. */
export interface MachinePoolConfiguration {
  system: "machine-pool";
  machinePool: MachinePoolSection;
  managementKubeconfig: pulumi.Output<string>;
  workloadKubeconfig?: pulumi.Output<string>;
}

/** Credentials for the machines of a kubeadm cluster and for their image registries. */
export interface MachineSecrets {
  sshPrivateKey?: pulumi.Output<string>;
  sshPrivateKeys: pulumi.Output<Record<string, string>>;
  registryCredentials: pulumi.Output<Record<string, RegistryCredential>>;
}
