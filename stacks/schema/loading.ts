import * as pulumi from "@pulumi/pulumi";
import { formatPath, type Mistake } from "../../core/validation/mistake";
import { nearest, unknownWord } from "../../core/validation/spelling";
import { BaseCluster, ClusterConfiguration, MACHINE_FIELDS } from "./cluster";
import { check } from "./explanation";
import { CONFIGURATION_KEYS, type ConfigurationKey, SYSTEMS, type System } from "./keys";
import { MachinePoolSection } from "./machine-pool";
import { OpenstackSection } from "./openstack";
import { openstackSectionMistakes } from "./openstack-rules";
import { isObject } from "./rule";
import {
  readApplicationCredential,
  readKubeconfig,
  readPrivateKey,
  readPrivateKeys,
  readRegistryCredentials,
  type ApplicationCredential,
  type RegistryCredential,
} from "./secrets";

/** The configuration of a stack, complete and checked. Secrets are secret outputs. */
export type Configuration = SshConfiguration | OpenstackConfiguration | MachinePoolConfiguration;

/** The configuration of a stack that makes a kubeadm cluster. */
export type KubeadmConfiguration = SshConfiguration | OpenstackConfiguration;

/** A stack on machines that exist. */
export interface SshConfiguration extends Secrets {
  system: "ssh";
  cluster: ClusterConfiguration;
}

/** A stack on servers of an OpenStack cloud. */
export interface OpenstackConfiguration extends Secrets {
  system: "openstack";
  cluster: BaseCluster;
  openstack: OpenstackSection;
  cloudApplicationCredential?: pulumi.Output<ApplicationCredential>;
}

/** A stack of one MachinePool on a management cluster. */
export interface MachinePoolConfiguration {
  system: "machine-pool";
  machinePool: MachinePoolSection;
  managementKubeconfig: pulumi.Output<string>;
  workloadKubeconfig?: pulumi.Output<string>;
}

interface Secrets {
  sshPrivateKey?: pulumi.Output<string>;
  sshPrivateKeys: pulumi.Output<Record<string, string>>;
  registryCredentials: pulumi.Output<Record<string, RegistryCredential>>;
}

/** Where the configuration is read from. Values are texts; objects are JSON. */
export interface ConfigurationReader {
  project: string;
  stack: string;
  values: Readonly<Record<string, string>>;
  /** Whether a full key, "foresail:sshPrivateKey", is encrypted. */
  isSecret(key: string): boolean;
}

/** Reads what the engine handed to the running program. */
export function engineReader(project = pulumi.getProject()): ConfigurationReader {
  // The typings leave isConfigSecret out, but pulumi.Config itself asks it; a Config getter would log a warning for
  // each secret, and none of them lists the keys.
  const runtime = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };
  return {
    project,
    stack: pulumi.getStack(),
    values: pulumi.runtime.allConfig(),
    isSecret: (key) => runtime.isConfigSecret(key),
  };
}

/**
 * Reads and checks the whole configuration of the stack.
 * @throws pulumi.RunError that names the stack file and lists every mistake, one a line
 */
export function loadConfiguration(reader: ConfigurationReader = engineReader()): Configuration {
  const raw = (key: keyof typeof CONFIGURATION_KEYS) => reader.values[`${reader.project}:${key}`];
  const system = readSystem(raw("system"));
  if (system.value === "machine-pool") return loadMachinePool(reader, raw);
  const body =
    system.value === "openstack" ? readOpenstack(raw("cluster"), raw("openstack")) : readSsh(raw("cluster"));
  const sshPrivateKey =
    raw("sshPrivateKey") === undefined ? undefined : readPrivateKey(raw("sshPrivateKey") ?? "");
  const sshPrivateKeys = readPrivateKeys(json(raw("sshPrivateKeys") ?? "{}"), body.machines);
  const registryCredentials = readRegistryCredentials(json(raw("registryCredentials") ?? "{}"));
  const credential = raw("cloudApplicationCredential");
  const applicationCredential =
    credential === undefined ? undefined : readApplicationCredential(json(credential));

  const mistakes = [
    ...keyMistakes(reader, system.value),
    ...system.mistakes,
    ...body.mistakes,
    ...(sshPrivateKey?.mistakes ?? []),
    ...sshPrivateKeys.mistakes,
    ...registryCredentials.mistakes,
    ...(applicationCredential?.mistakes ?? []),
  ];
  if (mistakes.length > 0 || !body.value) throw new pulumi.RunError(sayMistakes(reader.stack, mistakes));
  const secrets: Secrets = {
    ...(sshPrivateKey && { sshPrivateKey: pulumi.secret(sshPrivateKey.value) }),
    sshPrivateKeys: pulumi.secret(sshPrivateKeys.value),
    registryCredentials: pulumi.secret(registryCredentials.value),
  };
  if (body.value.system === "ssh") return { ...body.value, ...secrets };
  return {
    ...body.value,
    ...secrets,
    ...(applicationCredential && {
      cloudApplicationCredential: pulumi.secret(applicationCredential.value),
    }),
  };
}

/** Reads what a stack of the system "machine-pool" has, which has no machines of its own. */
function loadMachinePool(
  reader: ConfigurationReader,
  raw: (key: keyof typeof CONFIGURATION_KEYS) => string | undefined,
): MachinePoolConfiguration {
  const written = raw("machinePool");
  const section =
    written === undefined
      ? { value: undefined, mistakes: [missing("machinePool", "examples/machine-pool/ shows a whole one")] }
      : check(MachinePoolSection, json(written), ["machinePool"]);
  const management = readKubeconfig("managementKubeconfig", raw("managementKubeconfig"));
  const workload = raw("workloadKubeconfig");
  const mistakes = [
    ...keyMistakes(reader, "machine-pool"),
    ...section.mistakes,
    ...management.mistakes,
    ...(workload === undefined ? [] : readKubeconfig("workloadKubeconfig", workload).mistakes),
  ];
  if (mistakes.length > 0 || !section.value) throw new pulumi.RunError(sayMistakes(reader.stack, mistakes));
  return {
    system: "machine-pool",
    machinePool: section.value,
    managementKubeconfig: pulumi.secret(management.value),
    ...(workload === undefined ? {} : { workloadKubeconfig: pulumi.secret(workload) }),
  };
}

function missing(key: string, mend: string): Mistake {
  return { path: [key], message: `is missing; ${mend}` };
}

function sayMistakes(stack: string, mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  const lines = mistakes.map(({ path, message }) => `  ${formatPath(path)}: ${message}`);
  return [`Pulumi.${stack}.yaml has ${count}; nothing was changed:`, ...lines].join("\n");
}

/** Keys that nobody reads, and keys that are encrypted when they should not be, or the other way round. */
function keyMistakes(reader: ConfigurationReader, system: System): Mistake[] {
  const known = Object.keys(CONFIGURATION_KEYS);
  const ours = Object.keys(reader.values).filter((key) => key.startsWith(`${reader.project}:`));
  return ours.flatMap((fullKey): Mistake[] => {
    const key = fullKey.slice(reader.project.length + 1);
    if (!Object.hasOwn(CONFIGURATION_KEYS, key)) {
      const inCluster =
        nearest(key, known) === undefined && Object.hasOwn(ClusterConfiguration.in.shape, key);
      const message = inCluster
        ? `is not known here; write it under ${reader.project}:cluster`
        : unknownWord(key, known);
      return [{ path: [key], message }];
    }
    const { secret, systems = SYSTEMS }: ConfigurationKey =
      CONFIGURATION_KEYS[key as keyof typeof CONFIGURATION_KEYS];
    if (!systems.includes(system)) {
      const named = systems.map((one) => `"${one}"`).join(" and ");
      const choice = systems.map((one) => `${reader.project}:system: ${one}`).join(" or ");
      const message = `belongs to the system${systems.length > 1 ? "s" : ""} ${named}; remove it, or write ${choice}`;
      return [{ path: [key], message }];
    }
    if (secret && !reader.isSecret(fullKey)) {
      return [
        { path: [key], message: `is not encrypted; set it with: pulumi config set --secret ${fullKey}` },
      ];
    }
    if (!secret && reader.isSecret(fullKey)) {
      return [
        {
          path: [key],
          message:
            "is encrypted, but it is shown in previews; write it in plain, and secrets in the keys made for them",
        },
      ];
    }
    return [];
  });
}

function readSystem(raw: string | undefined): { value: System; mistakes: Mistake[] } {
  const value = SYSTEMS.find((system) => system === (raw ?? CONFIGURATION_KEYS.system.default));
  if (value) return { value, mistakes: [] };
  const message = `"${raw ?? ""}" is not a system; write ${SYSTEMS.map((system) => `"${system}"`).join(" or ")}`;
  return { value: "ssh", mistakes: [{ path: ["system"], message }] };
}

/** What a system's own keys say. */
interface Reading<Value> {
  value: Value | undefined;
  mistakes: Mistake[];
  /** Names of machines as far as they can be read; undefined when they can't. */
  machines: string[] | undefined;
}

const CLUSTER_MISSING: Mistake = {
  path: ["cluster"],
  message: "is missing; stacks/config/Pulumi.example-onprem.yaml shows a whole one",
};

function readSsh(raw: string | undefined): Reading<Pick<SshConfiguration, "system" | "cluster">> {
  if (raw === undefined) return { value: undefined, mistakes: [CLUSTER_MISSING], machines: undefined };
  const value = json(raw);
  const list = isObject(value) && Array.isArray(value.machines) ? (value.machines as unknown[]) : undefined;
  const machines = list?.flatMap((machine) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
  const { value: cluster, mistakes } = check(ClusterConfiguration, value, ["cluster"]);
  return { value: cluster && { system: "ssh", cluster }, mistakes, machines };
}

function readOpenstack(
  rawCluster: string | undefined,
  rawSection: string | undefined,
): Reading<Pick<OpenstackConfiguration, "system" | "cluster" | "openstack">> {
  const written = json(rawCluster ?? "{}");
  const misplaced = MACHINE_FIELDS.filter((field) => isObject(written) && Object.hasOwn(written, field));
  const own = isObject(written)
    ? Object.fromEntries(Object.entries(written).filter(([key]) => !misplaced.some((field) => field === key)))
    : written;
  const cluster = check(BaseCluster, own, ["cluster"]);
  const section = check(OpenstackSection, json(rawSection ?? "{}"), ["openstack"]);
  const mistakes: Mistake[] = [
    ...(rawCluster === undefined
      ? [{ path: ["cluster"], message: "is missing; examples/openstack/ shows a whole one" }]
      : cluster.mistakes),
    ...misplaced.map((field) => ({
      path: ["cluster", field],
      message: `is not for the system "openstack"; write ${field === "endpoint" ? "it" : "the machines"} under foresail:openstack`,
    })),
    ...(rawSection === undefined
      ? [{ path: ["openstack"], message: "is missing; examples/openstack/ shows a whole one" }]
      : [...section.mistakes, ...openstackSectionMistakes(json(rawSection), own)]),
  ];
  const value =
    cluster.value && section.value
      ? { system: "openstack" as const, cluster: cluster.value, openstack: section.value }
      : undefined;
  return { value, mistakes, machines: [] };
}

/** The engine hands objects over as JSON; what is no JSON is a text, which the rules refuse in their own words. */
function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
