import * as pulumi from "@pulumi/pulumi";
import { formatPath, type Mistake } from "../../core/validation/mistake";
import { nearest, unknownWord } from "../../core/validation/spelling";
import { ClusterConfiguration } from "./cluster";
import { check } from "./explanation";
import { CONFIGURATION_KEYS, SYSTEMS, type System } from "./keys";
import { isObject } from "./rule";
import { readPrivateKey, readPrivateKeys, readRegistryCredentials, type RegistryCredential } from "./secrets";

/** The configuration of a stack, complete and checked. Secrets are secret outputs. */
export interface Configuration {
  system: System;
  cluster: ClusterConfiguration;
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
  const cluster = readCluster(raw("cluster"));
  const sshPrivateKey =
    raw("sshPrivateKey") === undefined ? undefined : readPrivateKey(raw("sshPrivateKey") ?? "");
  const sshPrivateKeys = readPrivateKeys(json(raw("sshPrivateKeys") ?? "{}"), cluster.machines);
  const registryCredentials = readRegistryCredentials(json(raw("registryCredentials") ?? "{}"));

  const mistakes = [
    ...keyMistakes(reader),
    ...system.mistakes,
    ...cluster.mistakes,
    ...(sshPrivateKey?.mistakes ?? []),
    ...sshPrivateKeys.mistakes,
    ...registryCredentials.mistakes,
  ];
  if (mistakes.length > 0 || !cluster.value) throw new pulumi.RunError(sayMistakes(reader.stack, mistakes));
  return {
    system: system.value,
    cluster: cluster.value,
    ...(sshPrivateKey && { sshPrivateKey: pulumi.secret(sshPrivateKey.value) }),
    sshPrivateKeys: pulumi.secret(sshPrivateKeys.value),
    registryCredentials: pulumi.secret(registryCredentials.value),
  };
}

function sayMistakes(stack: string, mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  const lines = mistakes.map(({ path, message }) => `  ${formatPath(path)}: ${message}`);
  return [`Pulumi.${stack}.yaml has ${count}; nothing was changed:`, ...lines].join("\n");
}

/** Keys that nobody reads, and keys that are encrypted when they should not be, or the other way round. */
function keyMistakes(reader: ConfigurationReader): Mistake[] {
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
    const { secret } = CONFIGURATION_KEYS[key as keyof typeof CONFIGURATION_KEYS];
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

/** `machines` are the names as far as they can be read, also from a cluster with mistakes. */
function readCluster(raw: string | undefined) {
  if (raw === undefined) {
    const message = "is missing; stacks/config/Pulumi.example-onprem.yaml shows a whole one";
    return { value: undefined, mistakes: [{ path: ["cluster"], message }], machines: undefined };
  }
  const value = json(raw);
  const list = isObject(value) && Array.isArray(value.machines) ? (value.machines as unknown[]) : undefined;
  const machines = list?.flatMap((machine) =>
    isObject(machine) && typeof machine.name === "string" ? [machine.name] : [],
  );
  return { ...check(ClusterConfiguration, value, ["cluster"]), machines };
}

/** The engine hands objects over as JSON; what is no JSON is a text, which the rules refuse in their own words. */
function json(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
