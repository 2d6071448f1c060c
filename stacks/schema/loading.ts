import * as pulumi from "@pulumi/pulumi";
import {
  formatPath,
  issueCount,
  issueLines,
  type ValidationIssue,
} from "../../lib/validation/validation-issue";
import { quoted } from "../../lib/text/quote";
import { nearest } from "../../lib/validation/spelling";
import type { Configuration } from "./configuration";
import { keyIssues, type StackKeys } from "./key-issues";
import { CONFIGURATION_KEYS, SYSTEMS, type System } from "./keys";
import { readKubeadm } from "./kubeadm-loading";
import { readAzimuth, readMachinePool } from "./management-loading";
import type { RawKeys, Reading } from "./reading";
import { structureIssues } from "./structure";

/** Source of the configuration. Values are strings; objects are JSON. */
export interface ConfigurationReader extends StackKeys {
  stack: string;
}

/** Returns a reader of the configuration that the engine passes to the program. */
export function engineReader(project = pulumi.getProject()): ConfigurationReader {
  // The typings lack isConfigSecret, which pulumi.Config uses itself. Getters of Config would log a warning for each
  // secret, and they can't list the keys.
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
 *
 * @throws pulumi.RunError with the stack file and the validation issues, one per line
 */
export function loadConfiguration(reader: ConfigurationReader = engineReader()): Configuration {
  const raw: RawKeys = (key) => reader.values[`${reader.project}:${key}`];
  const system = readSystem(raw("system"));
  // The rules of other keys depend on the system, so they are not checked while it is invalid.
  const read = system.value === undefined ? undefined : readStructured(system.value, raw);
  const issues = [
    ...keyIssues(reader, system.value),
    ...system.mistakes,
    ...(read === undefined ? [] : read.mistakes),
  ];
  if (issues.length > 0 || !read?.value) throw new pulumi.RunError(describeIssues(reader.stack, issues));
  return read.value;
}

function readSystem(raw: string | undefined): Reading<System> {
  const value = SYSTEMS.find((system) => system === (raw ?? CONFIGURATION_KEYS.system.default));
  if (value) return { value, mistakes: [] };
  const meant = nearest(raw ?? "", SYSTEMS);
  const fix =
    meant === undefined
      ? `write ${SYSTEMS.map((system) => `"${system}"`).join(" or ")}`
      : `did you mean "${meant}"?`;
  return {
    value: undefined,
    mistakes: [{ path: ["system"], message: `${quoted(raw ?? "")} is not a system; ${fix}` }],
  };
}

/** Reads the keys of a system. Adds structure issues, except for paths that already have an issue. */
function readStructured(system: System, raw: RawKeys): Reading<Configuration> {
  const structure = structureIssues(raw);
  if (structure.tooDeep.length > 0) return { value: undefined, mistakes: structure.tooDeep };
  const { value, mistakes: issues } = readOf(system, raw);
  const said = new Set(issues.map(({ path }) => formatPath(path)));
  const others = structure.issues.filter(({ path }) => !said.has(formatPath(path)));
  return { value, mistakes: [...issues, ...others] };
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

function describeIssues(stack: string, issues: readonly ValidationIssue[]): string {
  const lines = issueLines(issues).map((line) => `  ${line}`);
  return [`Pulumi.${stack}.yaml has ${issueCount(issues)}; nothing was changed:`, ...lines].join("\n");
}
