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
import { isObject } from "./rule";
import {
  type ApplicationCredential,
  type RegistryCredential,
  type TumblebugCredentials,
  readApplicationCredential,
  readKubeconfig,
  readPrivateKey,
  readPrivateKeys,
  readRegistryCredentials,
  readSshKey,
  readTumblebugCredentials,
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

/** Returns the value of a key in the stack file. */
type Keys = (key: KeyName) => unknown;

/** Reads the keys of a system. */
export function readSystem(system: System, keys: Keys): Reading<Configuration> {
  switch (system) {
    case "ssh":
      return both(readCluster(keys), machineSecrets(keys, machineNames(keys("cluster"))));
    case "openstack": {
      const cluster = clusterWith(system, OpenstackSection, openstackRules, keys);
      const credential = optional(keys, "cloudApplicationCredential", readApplicationCredential);
      const { value, issues } = both(both(cluster, machineSecrets(keys, [])), credential);
      return {
        value: value && { ...value, system, openstack: value.section },
        issues: [...issues, ...keypairIssues(keys)],
      };
    }
    case "tumblebug": {
      const cluster = clusterWith(system, TumblebugSection, tumblebugRules, keys);
      const credentials = optional(keys, "tumblebugCredentials", readTumblebugCredentials);
      const { value, issues } = both(both(cluster, machineSecrets(keys, [])), credentials);
      return { value: value && { ...value, system, tumblebug: value.section }, issues };
    }
    case "azimuth": {
      const { value, issues } = both(section(system, AzimuthSection, keys), managementKubeconfig(keys));
      return { value: value && { ...value, system, azimuth: value.section }, issues };
    }
    case "machine-pool": {
      const pool = both(section("machinePool", MachinePoolSection, keys), managementKubeconfig(keys));
      const workload = optional(keys, "workloadKubeconfig", (raw) =>
        readKubeconfig("workloadKubeconfig", raw),
      );
      const { value, issues } = both(pool, workload);
      return { value: value && { ...value, system, machinePool: value.section }, issues };
    }
  }
}

/** Returns the fields of two readings as one. */
function both<One extends object, Other extends object>(
  one: Reading<One>,
  other: Reading<Other>,
): Reading<One & Other> {
  return {
    value: one.value && other.value && { ...one.value, ...other.value },
    issues: [...one.issues, ...other.issues],
  };
}

/** Returns the issue of a missing required key. @param example file or folder with a complete example */
const missing = (key: KeyName, example: string): ValidationIssue[] =>
  issueAt([key], `is missing; ${example} shows a complete one`);

const EXAMPLES = {
  cluster: "stacks/config/Pulumi.example-onprem.yaml",
  openstack: "examples/openstack/",
  tumblebug: "examples/tumblebug/",
  azimuth: "examples/azimuth/",
  machinePool: "examples/machine-pool/",
};

function section<Section extends z.ZodType>(
  key: Exclude<keyof typeof EXAMPLES, "cluster">,
  schema: Section,
  keys: Keys,
): Reading<{ section: z.output<Section> }> {
  if (keys(key) === undefined) return { value: undefined, issues: missing(key, EXAMPLES[key]) };
  const { value, issues } = check(schema, keys(key), [key]);
  return { value: value === undefined ? undefined : { section: value }, issues };
}

function readCluster(keys: Keys): Reading<{ system: "ssh"; cluster: ClusterConfiguration }> {
  const written = keys("cluster");
  if (written === undefined) return { value: undefined, issues: missing("cluster", EXAMPLES.cluster) };
  const { value, issues } = check(ClusterConfiguration, written, ["cluster"]);
  return { value: value && { system: "ssh", cluster: value }, issues };
}

/** Returns the readable names of machines; undefined if the list can't be read. */
function machineNames(cluster: unknown): string[] | undefined {
  if (!isObject(cluster) || !Array.isArray(cluster.machines)) return undefined;
  return cluster.machines.flatMap((machine: unknown) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
}

/** Reads the cluster of a system with pools or groups in its own section, which has the name of the system. */
function clusterWith<Section extends z.ZodObject>(
  system: "openstack" | "tumblebug",
  schema: Section,
  rulesOf: (section: Readable<z.output<Section>>, cluster: ReadableBase) => ValidationIssue[],
  keys: Keys,
): Reading<{ cluster: BaseCluster; section: z.output<Section> }> {
  const written = keys("cluster");
  const { misplaced, rest } = withoutMachines(written);
  const cluster = check(BaseCluster, rest, ["cluster"]);
  const own = section(system, schema, keys);
  const issues = [
    ...(written === undefined ? missing("cluster", EXAMPLES[system]) : cluster.issues),
    ...misplaced.flatMap((field) =>
      issueAt(
        ["cluster", field],
        `is not for the system "${system}"; write ${field === "endpoint" ? "it" : "the machines"} under foresail:${system}`,
      ),
    ),
    ...own.issues,
    ...(keys(system) === undefined
      ? []
      : rulesOf(readable(schema, keys(system)), readable(BaseCluster, rest))),
  ];
  return { value: cluster.value && own.value && { cluster: cluster.value, ...own.value }, issues };
}

/** Separates the fields for existing machines, which the cluster of a system with pools does not have. */
function withoutMachines(cluster: unknown = {}): { misplaced: string[]; rest: unknown } {
  if (!isObject(cluster)) return { misplaced: [], rest: cluster };
  const misplaced = MACHINE_FIELDS.filter((field) => Object.hasOwn(cluster, field));
  const own = Object.entries(cluster).filter(([key]) => !(misplaced as string[]).includes(key));
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

/** Reads a secret key that may be absent; then the result does not have it. */
function optional<Key extends KeyName, Value>(
  keys: Keys,
  key: Key,
  read: (raw: unknown) => Reading<Value>,
): Reading<{ [Name in Key]?: pulumi.Output<Value> }> {
  const raw = keys(key);
  if (raw === undefined) return { value: {}, issues: [] };
  const { value, issues } = read(raw);
  return { value: { [key]: pulumi.secret(value) } as { [Name in Key]?: pulumi.Output<Value> }, issues };
}

function managementKubeconfig(keys: Keys): Reading<{ managementKubeconfig: pulumi.Output<string> }> {
  const { value = "", issues } = readKubeconfig("managementKubeconfig", keys("managementKubeconfig"));
  return { value: { managementKubeconfig: pulumi.secret(value) }, issues };
}

/** @param machines names of the machines; undefined if they could not be read */
function machineSecrets(keys: Keys, machines: readonly string[] | undefined): Reading<MachineSecrets> {
  const privateKeys = readPrivateKeys(keys("sshPrivateKeys") ?? {}, machines);
  const registries = readRegistryCredentials(keys("registryCredentials") ?? {});
  const own = {
    sshPrivateKeys: pulumi.secret(privateKeys.value ?? {}),
    registryCredentials: pulumi.secret(registries.value ?? {}),
  };
  return both(optional(keys, "sshPrivateKey", readPrivateKey), {
    value: own,
    issues: [...privateKeys.issues, ...registries.issues],
  });
}
