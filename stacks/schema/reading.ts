import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { isObject } from "../../lib/json";
import { type ValidationIssue, below, issueAt } from "../../lib/validation/validation-issue";
import { AzimuthSection } from "./azimuth";
import { type Readable, type Reading, check, readable } from "../../lib/validation/check";
import { ClusterInput, baseCluster } from "./cluster";
import { clusterRules } from "./cluster-rules";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName, type System } from "./keys";
import { CollectorSection } from "./collector";
import { MachinePoolSection } from "./machine-pool";
import { OpenstackSection, openstackRules } from "./openstack";
import { type RegistryCredential, SECRETS } from "./secrets";
import { StackLabels } from "../../lib/layers/stack-labels";
import { TumblebugSection, tumblebugRules } from "./tumblebug";

/** The sections of each system; its own section is the last one. Each of them is required. */
const SECTIONS = {
  ssh: { cluster: ClusterInput },
  openstack: { cluster: baseCluster("openstack"), openstack: OpenstackSection },
  tumblebug: { cluster: baseCluster("tumblebug"), tumblebug: TumblebugSection },
  azimuth: { azimuth: AzimuthSection },
  "machine-pool": { machinePool: MachinePoolSection },
  collector: { collector: CollectorSection },
} as const satisfies Record<System, Partial<Record<KeyName, z.ZodObject>>>;

type Sections<Of extends System> = {
  -readonly [Key in keyof (typeof SECTIONS)[Of]]: z.output<(typeof SECTIONS)[Of][Key]>;
};

/** Credentials for the machines of a kubeadm cluster and for their image registries. */
interface MachineSecrets {
  sshPrivateKey?: pulumi.Output<string>;
  sshPrivateKeys: pulumi.Output<Record<string, string>>;
  registryCredentials: pulumi.Output<Record<string, RegistryCredential>>;
  proxyCredentials?: pulumi.Output<RegistryCredential>;
}

/** The secret keys of each system. */
interface Secrets {
  ssh: MachineSecrets;
  openstack: MachineSecrets & {
    cloudApplicationCredential?: pulumi.Output<Record<"id" | "secret", string>>;
  };
  tumblebug: MachineSecrets & {
    tumblebugCredentials?: pulumi.Output<Record<"username" | "password", string>>;
  };
  azimuth: { managementKubeconfig: pulumi.Output<string> };
  "machine-pool": {
    managementKubeconfig: pulumi.Output<string>;
    workloadKubeconfig?: pulumi.Output<string>;
  };
  collector: unknown;
}

/** The configuration of a stack of a system. Secrets are secret outputs. */
export type ConfigurationOf<Of extends System> = { system: Of } & Sections<Of> & Secrets[Of];

/** The complete, valid configuration of a stack. */
export type Configuration = { [Of in System]: ConfigurationOf<Of> }[System];

/** The configuration of a stack with a kubeadm cluster. */
export type KubeadmConfiguration = Extract<Configuration, MachineSecrets>;

/** Returns the value of a key in the stack file. */
type Keys = (key: KeyName) => unknown;

/** Reads the keys of a system. If there are issues, there is no value. */
export function readSystem(system: System, keys: Keys): Reading<Configuration> {
  const read = { ...readSections(system, keys), ...readSecrets(system, keys) };
  const labels = check(StackLabels, keys("labels") ?? {}, ["labels"]);
  const issues = [
    ...labels.issues,
    ...Object.values(read).flatMap((one) => one.issues),
    ...ruleIssues(system, keys),
  ];
  if (issues.length > 0) return { value: undefined, issues };
  const values = Object.entries(read).map(([key, { value }]) => [key, value] as const);
  return { value: { system, ...Object.fromEntries(values) } as Configuration, issues };
}

/** Where an example is that has not the name of its system. */
const EXAMPLES: Partial<Record<System, string>> = {
  ssh: "stacks/config/Pulumi.example-onprem.yaml",
  collector: "examples/regions/",
};

function readSections(system: System, keys: Keys): Record<string, Reading<unknown>> {
  const missing = `is missing; ${EXAMPLES[system] ?? `examples/${system}/`} shows a complete one`;
  const sections = Object.entries<z.ZodObject>(SECTIONS[system]).map(([key, schema]) => {
    const written = keys(key as KeyName);
    const read = { value: undefined, issues: issueAt([key], missing) };
    return [key, written === undefined ? read : check(schema, written, [key])] as const;
  });
  return Object.fromEntries(sections);
}

/** Secret keys that have a value, or an issue, when they are not in the file. Others are left out then. */
const ALWAYS_READ: readonly KeyName[] = ["sshPrivateKeys", "registryCredentials", "managementKubeconfig"];

function readSecrets(system: System, keys: Keys): Record<string, Reading<unknown>> {
  const machines = system === "ssh" ? namesOf(keys("cluster")) : [];
  const secrets = Object.entries(SECRETS).flatMap(([name, read]) => {
    const key = name as keyof typeof SECRETS;
    const raw = keys(key);
    const { systems }: ConfigurationKey = CONFIGURATION_KEYS[key];
    if (!systems?.includes(system) || (raw === undefined && !ALWAYS_READ.includes(key))) return [];
    const { value, issues } = read(raw, machines, keys("cluster"));
    return [[key, { value: pulumi.secret(value), issues: below([key], issues) }] as const];
  });
  return Object.fromEntries(secrets);
}

/** Returns the readable names of machines; undefined if the list can't be read. */
function namesOf(cluster: unknown): string[] | undefined {
  if (!isObject(cluster) || !Array.isArray(cluster.machines)) return undefined;
  return cluster.machines.flatMap((machine: unknown) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
}

/** Rules that depend on several fields or keys. They are checked even if other fields are invalid. */
const RULES: {
  [Of in System]?: (sections: Readable<Sections<Of>>, privateKey?: unknown) => ValidationIssue[];
} = {
  ssh: clusterRules,
  openstack: openstackRules,
  tumblebug: (sections) => tumblebugRules(sections),
};

function ruleIssues(system: System, keys: Keys): ValidationIssue[] {
  const names = Object.keys(SECTIONS[system]) as KeyName[];
  const written = Object.fromEntries(names.map((name) => [name, keys(name)]));
  // Without its own section, a system has no machines that the rules could check.
  if (!isObject(written[names.at(-1) ?? ""])) return [];
  const rules = RULES[system];
  return rules?.(readable(z.object(SECTIONS[system]), written), keys("sshPrivateKey")) ?? [];
}
