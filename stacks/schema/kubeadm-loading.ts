import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { publicKeyBody } from "../../lib/validation/keys";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { BaseCluster, MACHINE_FIELDS } from "./cluster";
import { ClusterConfiguration, type ReadableBase } from "./cluster-rules";
import type {
  KubeadmConfiguration,
  MachineSecrets,
  OpenstackConfiguration,
  SshConfiguration,
  TumblebugConfiguration,
} from "./configuration";
import { check } from "./check";
import { openstackRules, OpenstackSection } from "./openstack";
import { readSshKey } from "./private-key";
import { readable, type Readable } from "./readable";
import { json, missing, type RawKeys, type Reading } from "./reading";
import { isObject } from "./rule";
import {
  readApplicationCredential,
  readPrivateKey,
  readPrivateKeys,
  readRegistryCredentials,
  readTumblebugCredentials,
  type SecretReading,
} from "./secrets";
import { tumblebugRules, TumblebugSection } from "./tumblebug";

type KubeadmSystem = KubeadmConfiguration["system"];

/** Reads the keys of a system for which foresail itself runs kubeadm on the machines. */
export function readKubeadm(system: KubeadmSystem, raw: RawKeys): Reading<KubeadmConfiguration> {
  const body = readBody(system, raw);
  const secrets = readMachineSecrets(raw, body.machines);
  const cloud = readOptional(raw("cloudApplicationCredential"), (text) =>
    readApplicationCredential(json(text)),
  );
  const server = readOptional(raw("tumblebugCredentials"), (text) => readTumblebugCredentials(json(text)));
  const issues = [
    ...body.mistakes,
    ...secrets.mistakes,
    ...cloud.mistakes,
    ...server.mistakes,
    ...(system === "openstack" ? keypairIssues(raw) : []),
  ];
  if (body.value === undefined) return { value: undefined, mistakes: issues };
  switch (body.value.system) {
    case "ssh":
      return { value: { ...body.value, ...secrets.value }, mistakes: issues };
    case "openstack":
      return {
        value: {
          ...body.value,
          ...secrets.value,
          ...(cloud.value && { cloudApplicationCredential: pulumi.secret(cloud.value) }),
        },
        mistakes: issues,
      };
    case "tumblebug":
      return {
        value: {
          ...body.value,
          ...secrets.value,
          ...(server.value && { tumblebugCredentials: pulumi.secret(server.value) }),
        },
        mistakes: issues,
      };
  }
}

/** Checks that the keypair's public key matches the private key, or else foresail can't log in to new machines. */
function keypairIssues(raw: RawKeys): ValidationIssue[] {
  const section = json(raw("openstack") ?? "{}");
  const keypair = isObject(section) ? section.keypair : undefined;
  const written = isObject(keypair) ? keypair.publicKey : undefined;
  const publicKey = typeof written === "string" ? publicKeyBody(written) : undefined;
  const { publicHalf } = readSshKey(raw("sshPrivateKey") ?? "");
  if (publicKey === undefined || publicHalf === undefined || publicKey === publicHalf) return [];
  const message =
    "is not the public half of foresail:sshPrivateKey, so that no new machine would let foresail in; write the line that this prints: ssh-keygen -y -f FILE";
  return [{ path: ["openstack", "keypair", "publicKey"], message }];
}

function readOptional<Value>(
  raw: string | undefined,
  read: (raw: string) => SecretReading<Value>,
): Reading<Value> {
  return raw === undefined ? { value: undefined, mistakes: [] } : read(raw);
}

function readMachineSecrets(
  raw: RawKeys,
  machines: readonly string[] | undefined,
): SecretReading<MachineSecrets> {
  const key = readOptional(raw("sshPrivateKey"), readPrivateKey);
  const keys = readPrivateKeys(json(raw("sshPrivateKeys") ?? "{}"), machines);
  const registries = readRegistryCredentials(json(raw("registryCredentials") ?? "{}"));
  return {
    value: {
      ...(key.value !== undefined && { sshPrivateKey: pulumi.secret(key.value) }),
      sshPrivateKeys: pulumi.secret(keys.value),
      registryCredentials: pulumi.secret(registries.value),
    },
    mistakes: [...key.mistakes, ...keys.mistakes, ...registries.mistakes],
  };
}

type SshBody = Pick<SshConfiguration, "system" | "cluster">;
type OpenstackBody = Pick<OpenstackConfiguration, "system" | "cluster" | "openstack">;
type TumblebugBody = Pick<TumblebugConfiguration, "system" | "cluster" | "tumblebug">;

/** Result of reading the keys that are not secret. */
interface BodyReading<Value> extends Reading<Value> {
  /** Readable names of machines; undefined if the list can't be read. */
  machines: string[] | undefined;
}

function readBody(system: KubeadmSystem, raw: RawKeys): BodyReading<SshBody | OpenstackBody | TumblebugBody> {
  switch (system) {
    case "ssh":
      return readSsh(raw("cluster"));
    case "openstack":
      return readSection(system, OpenstackSection, openstackRules, raw, (cluster, openstack) => ({
        ...{ system, cluster, openstack },
      }));
    case "tumblebug":
      return readSection(system, TumblebugSection, tumblebugRules, raw, (cluster, tumblebug) => ({
        ...{ system, cluster, tumblebug },
      }));
  }
}

function readSsh(raw: string | undefined): BodyReading<SshBody> {
  if (raw === undefined) {
    const issues = [missing("cluster", "stacks/config/Pulumi.example-onprem.yaml")];
    return { value: undefined, mistakes: issues, machines: undefined };
  }
  const value = json(raw);
  const list = isObject(value) && Array.isArray(value.machines) ? (value.machines as unknown[]) : undefined;
  const machines = list?.flatMap((machine) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
  const { value: cluster, mistakes: issues } = check(ClusterConfiguration, value, ["cluster"]);
  return { value: cluster && { system: "ssh", cluster }, mistakes: issues, machines };
}

/** Reads a system with pools or groups in its own section, which has the name of the system. */
function readSection<Section extends z.ZodObject, Value>(
  system: Exclude<KubeadmSystem, "ssh">,
  schema: Section,
  rulesOf: (section: Readable<z.output<Section>>, cluster: ReadableBase) => ValidationIssue[],
  raw: RawKeys,
  join: (cluster: BaseCluster, section: z.output<Section>) => Value,
): BodyReading<Value> {
  const [rawCluster, rawSection] = [raw("cluster"), raw(system)];
  const written = json(rawCluster ?? "{}");
  const misplaced = MACHINE_FIELDS.filter((field) => isObject(written) && Object.hasOwn(written, field));
  const own = isObject(written)
    ? Object.fromEntries(Object.entries(written).filter(([key]) => !misplaced.some((field) => field === key)))
    : written;
  const cluster = check(BaseCluster, own, ["cluster"]);
  const section = check(schema, json(rawSection ?? "{}"), [system]);
  const example = `examples/${system}/`;
  const issues: ValidationIssue[] = [
    ...(rawCluster === undefined ? [missing("cluster", example)] : cluster.mistakes),
    ...misplaced.map((field) => ({
      path: ["cluster", field],
      message: `is not for the system "${system}"; write ${field === "endpoint" ? "it" : "the machines"} under foresail:${system}`,
    })),
    ...(rawSection === undefined
      ? [missing(system, example)]
      : [...section.mistakes, ...rulesOf(readable(schema, json(rawSection)), readable(BaseCluster, own))]),
  ];
  const value = cluster.value && section.value ? join(cluster.value, section.value) : undefined;
  return { value, mistakes: issues, machines: [] };
}
