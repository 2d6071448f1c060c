import * as pulumi from "@pulumi/pulumi";
import { formatPath, type Mistake } from "../../core/validation/mistake";
import type { Configuration } from "./configuration";
import { keyMistakes, type StackKeys } from "./key-mistakes";
import { CONFIGURATION_KEYS, SYSTEMS, type System } from "./keys";
import { readKubeadm } from "./kubeadm-loading";
import { readAzimuth, readMachinePool } from "./management-loading";
import type { RawKeys, Reading } from "./reading";

/** Where the configuration is read from. Values are texts; objects are JSON. */
export interface ConfigurationReader extends StackKeys {
  stack: string;
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
  const raw: RawKeys = (key) => reader.values[`${reader.project}:${key}`];
  const system = readSystem(raw("system"));
  const { value, mistakes: own } = readOf(system.value, raw);
  const mistakes = [...keyMistakes(reader, system.value), ...system.mistakes, ...own];
  if (mistakes.length > 0 || !value) throw new pulumi.RunError(sayMistakes(reader.stack, mistakes));
  return value;
}

function readSystem(raw: string | undefined): { value: System; mistakes: Mistake[] } {
  const value = SYSTEMS.find((system) => system === (raw ?? CONFIGURATION_KEYS.system.default));
  if (value) return { value, mistakes: [] };
  const message = `"${raw ?? ""}" is not a system; write ${SYSTEMS.map((system) => `"${system}"`).join(" or ")}`;
  return { value: "ssh", mistakes: [{ path: ["system"], message }] };
}

function readOf(system: System, raw: RawKeys): Reading<Configuration> {
  switch (system) {
    case "azimuth":
      return readAzimuth(raw);
    case "machine-pool":
      return readMachinePool(raw);
    case "ssh":
    case "openstack":
    case "tumblebug":
      return readKubeadm(system, raw);
  }
}

function sayMistakes(stack: string, mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  const lines = mistakes.map(({ path, message }) => `  ${formatPath(path)}: ${message}`);
  return [`Pulumi.${stack}.yaml has ${count}; nothing was changed:`, ...lines].join("\n");
}
