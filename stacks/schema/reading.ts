import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { publicKeyBody } from "../../lib/validation/keys";
import { type ValidationIssue, issueAt } from "../../lib/validation/validation-issue";
import { AzimuthSection } from "./azimuth";
import { type Readable, type Reading, check, readable } from "./check";
import { BaseCluster, MACHINE_FIELDS } from "./cluster";
import { ClusterConfiguration, type ReadableBase } from "./cluster-rules";
import type { KeyName, System } from "./keys";
import { MachinePoolSection } from "./machine-pool";
import { OpenstackSection, openstackRules } from "./openstack";
import { isObject } from "../../lib/json";
import {
  type RegistryCredential,
  readFields,
  readKubeconfig,
  readPrivateKey,
  readPrivateKeys,
  readRegistryCredentials,
  readSshKey,
} from "./secrets";
import { TumblebugSection, tumblebugRules } from "./tumblebug";

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
  cloudApplicationCredential?: pulumi.Output<Record<"id" | "secret", string>>;
}

/** A stack on VMs from a CB-Tumblebug server. */
export interface TumblebugConfiguration extends MachineSecrets {
  system: "tumblebug";
  cluster: BaseCluster;
  tumblebug: TumblebugSection;
  tumblebugCredentials?: pulumi.Output<Record<"username" | "password", string>>;
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

/** Returns the value of a key in the stack file. */
type Keys = (key: KeyName) => unknown;

/** Reads the keys of a system. */
export function readSystem(system: System, keys: Keys): Reading<Configuration> {
  const reader = new SystemReader(keys);
  const value = reader.read(system);
  const { issues } = reader;
  return { value: issues.length === 0 ? value : undefined, issues };
}

const EXAMPLES = {
  cluster: "stacks/config/Pulumi.example-onprem.yaml",
  openstack: "examples/openstack/",
  tumblebug: "examples/tumblebug/",
  azimuth: "examples/azimuth/",
  machinePool: "examples/machine-pool/",
};

/** Reads keys and collects their issues. If there are any, no value may be used. */
class SystemReader {
  readonly issues: ValidationIssue[] = [];

  constructor(private readonly keys: Keys) {}

  read(system: System): Configuration {
    switch (system) {
      case "ssh": {
        const cluster = this.section("cluster", ClusterConfiguration);
        return { system, cluster, ...this.machineSecrets(machineNames(this.keys("cluster"))) };
      }
      case "openstack": {
        const { cluster, section } = this.clusterWith(system, OpenstackSection, openstackRules);
        const fields = ["id", "secret"] as const;
        const credential = this.optional("cloudApplicationCredential", (key, raw) =>
          readFields(key, raw, fields),
        );
        this.issues.push(...keypairIssues(this.keys));
        return { system, cluster, openstack: section, ...this.machineSecrets([]), ...credential };
      }
      case "tumblebug": {
        const { cluster, section } = this.clusterWith(system, TumblebugSection, tumblebugRules);
        const fields = ["username", "password"] as const;
        const credentials = this.optional("tumblebugCredentials", (key, raw) => readFields(key, raw, fields));
        return { system, cluster, tumblebug: section, ...this.machineSecrets([]), ...credentials };
      }
      case "azimuth":
        return { system, azimuth: this.section(system, AzimuthSection), ...this.managementKubeconfig() };
      case "machine-pool": {
        const machinePool = this.section("machinePool", MachinePoolSection);
        const workload = this.optional("workloadKubeconfig", readKubeconfig);
        return { system, machinePool, ...this.managementKubeconfig(), ...workload };
      }
    }
  }

  private take<Value>({ value, issues }: Reading<Value>): Value {
    this.issues.push(...issues);
    return value as Value;
  }

  private section<Schema extends z.ZodType>(
    key: keyof typeof EXAMPLES,
    schema: Schema,
    written = this.keys(key),
    example = EXAMPLES[key],
  ): z.output<Schema> {
    if (this.keys(key) !== undefined) return this.take(check(schema, written, [key]));
    const issues = issueAt([key], `is missing; ${example} shows a complete one`);
    return this.take<z.output<Schema>>({ value: undefined, issues });
  }

  /** Reads the cluster of a system with pools or groups in its own section, which has the name of the system. */
  private clusterWith<Section extends z.ZodObject>(
    system: "openstack" | "tumblebug",
    schema: Section,
    rulesOf: (section: Readable<z.output<Section>>, cluster: ReadableBase) => ValidationIssue[],
  ): { cluster: BaseCluster; section: z.output<Section> } {
    const { misplaced, rest } = withoutMachines(this.keys("cluster"));
    const cluster = this.section("cluster", BaseCluster, rest, EXAMPLES[system]);
    for (const field of misplaced) {
      const what = field === "endpoint" ? "it" : "the machines";
      const message = `is not for the system "${system}"; write ${what} under foresail:${system}`;
      this.issues.push({ path: ["cluster", field], message });
    }
    const section = this.section(system, schema);
    const written = this.keys(system);
    if (written !== undefined)
      this.issues.push(...rulesOf(readable(schema, written), readable(BaseCluster, rest)));
    return { cluster, section };
  }

  /** Reads a secret key that may be absent; then the result does not have it. */
  private optional<Key extends KeyName, Value>(
    key: Key,
    read: (key: string, raw: unknown) => Reading<Value>,
  ): { [Name in Key]?: pulumi.Output<Value> } {
    const raw = this.keys(key);
    if (raw === undefined) return {};
    return { [key]: pulumi.secret(this.take(read(key, raw))) } as { [Name in Key]?: pulumi.Output<Value> };
  }

  private managementKubeconfig(): { managementKubeconfig: pulumi.Output<string> } {
    const key = "managementKubeconfig";
    return { [key]: pulumi.secret(this.take(readKubeconfig(key, this.keys(key)))) };
  }

  /** @param machines names of the machines; undefined if they could not be read */
  private machineSecrets(machines: readonly string[] | undefined): MachineSecrets {
    const own = this.optional("sshPrivateKey", readPrivateKey);
    const privateKeys = this.take(readPrivateKeys(this.keys("sshPrivateKeys") ?? {}, machines));
    const credentials = this.take(readRegistryCredentials(this.keys("registryCredentials") ?? {}));
    return {
      ...own,
      sshPrivateKeys: pulumi.secret(privateKeys),
      registryCredentials: pulumi.secret(credentials),
    };
  }
}

/** Returns the readable names of machines; undefined if the list can't be read. */
function machineNames(cluster: unknown): string[] | undefined {
  if (!isObject(cluster) || !Array.isArray(cluster.machines)) return undefined;
  return cluster.machines.flatMap((machine: unknown) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
}

/** Separates the fields for existing machines, which the cluster of a system with pools does not have. */
function withoutMachines(cluster: unknown = {}): { misplaced: string[]; rest: unknown } {
  if (!isObject(cluster)) return { misplaced: [], rest: cluster };
  const misplaced: string[] = MACHINE_FIELDS.filter((field) => Object.hasOwn(cluster, field));
  const own = Object.entries(cluster).filter(([key]) => !misplaced.includes(key));
  return { misplaced, rest: Object.fromEntries(own) };
}

/** Checks that the keypair's public key matches the private key, or else foresail can't log in to new machines. */
function keypairIssues(keys: Keys): ValidationIssue[] {
  const { keypair } = readable(OpenstackSection, keys("openstack"));
  const publicKey = publicKeyBody(keypair?.publicKey ?? "");
  const privateKey = keys("sshPrivateKey");
  const { publicHalf } = readSshKey(typeof privateKey === "string" ? privateKey : "");
  if (publicKey === undefined || publicHalf === undefined || publicKey === publicHalf) return [];
  return issueAt(
    ["openstack", "keypair", "publicKey"],
    "is not the public half of foresail:sshPrivateKey, so that no new machine would let foresail in; write the line that this prints: ssh-keygen -y -f FILE",
  );
}
