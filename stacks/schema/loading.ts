import * as pulumi from "@pulumi/pulumi";
import { warn as logWarning } from "../../lib/pulumi/log";
import { isReference } from "../../lib/layers/shared-values";
import { quoted } from "../../lib/text/quote";
import { nearest, unknownWord } from "../../lib/validation/spelling";
import {
  type ValidationIssue,
  formatPath,
  issueAt,
  issueCount,
  issueLines,
} from "../../lib/validation/validation-issue";
import { ClusterInput } from "./cluster";
import { allFiles, type ConfigurationFiles, type FileIssue, inFile, MergedKeys, readFiles } from "./files";
import { type ConfigurationReader, engineReader } from "./reader";
import { fillFiles } from "./shared";
import { type Configuration, readSystem } from "./reading";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName, SYSTEMS, type System } from "./keys";
import { structureIssues } from "./structure";
import { WrittenFiles } from "./written-files";

/**
 * Reads and checks the whole configuration of the stack: its file, merged over the layer that it names.
 *
 * @param warn takes the old names in the files, one per line
 * @throws pulumi.RunError with each file and its validation issues, one per line
 */
export function loadConfiguration(
  reader: ConfigurationReader = engineReader(),
  warn: (message: string) => void = (message) => void logWarning(message),
): Configuration {
  const asWritten = readFiles(reader);
  const texts = new WrittenFiles(reader, asWritten);
  const refusal = (issues: readonly FileIssue[]) =>
    refusalOf([...issues, ...texts.octalIssues(issues)].map((issue) => texts.located(issue)));
  if (asWritten.issues.length > 0) throw refusal(asWritten.issues);
  const { files, issues: unfilled } = fillFiles(asWritten, reader.shared);
  // the rules would report the fields that could not be filled once more
  if (unfilled.length > 0) throw refusal(unfilled);
  const { system: written, file } = writtenSystem(files);
  const system = SYSTEMS.find((one) => one === written);
  // The rules of other keys depend on the system, so they are not checked while it is invalid.
  const read = system === undefined ? unknownSystem(String(written), file) : readValues(system, files);
  const issues = [...keyIssues(reader, files, system), ...read.issues];
  if (issues.length > 0 || !read.value || texts.octalIssues().length > 0) throw refusal(issues);
  if (read.deprecations.length > 0)
    warn(byFile(read.deprecations, ({ file }) => `${file} has old names:`).join("\n"));
  return read.value;
}

function refusalOf(issues: readonly FileIssue[]): pulumi.RunError {
  const title = ({ file, own }: IssuesOfFile) => `${file} has ${issueCount(own)}; nothing was changed:`;
  return new pulumi.RunError(byFile(issues, title).join("\n"));
}

interface IssuesOfFile {
  readonly file: string;
  readonly own: readonly FileIssue[];
}

/** Returns a text for each file that has issues: its title, and a line for each issue. */
function byFile(issues: readonly FileIssue[], title: (of: IssuesOfFile) => string): string[] {
  return [...new Set(issues.map(({ file }) => file))].map((file) => {
    const own = issues.filter((issue) => issue.file === file);
    return [title({ file, own }), ...issueLines(own)].join("\n  ");
  });
}

interface Read {
  value?: Configuration | undefined;
  issues: FileIssue[];
  /** Fields with old names. */
  deprecations: FileIssue[];
}

function writtenSystem({ stack, layer }: ConfigurationFiles): { system: unknown; file: string } {
  const from = layer !== undefined && stack.values.system === undefined ? layer : stack;
  return { system: from.values.system ?? CONFIGURATION_KEYS.system.default, file: from.file };
}

function unknownSystem(written: string, file: string): Read {
  const meant = nearest(written, SYSTEMS);
  const fix =
    meant === undefined
      ? `write ${SYSTEMS.map((system) => `"${system}"`).join(" or ")}`
      : `did you mean "${meant}"?`;
  return {
    issues: [{ file, path: ["system"], message: `${quoted(written)} is not a system; ${fix}` }],
    deprecations: [],
  };
}

/** Reads the keys of a system by their current names. Adds structure issues for paths without another issue. */
function readValues(system: System, files: ConfigurationFiles): Read {
  const structure = allFiles(files).map(({ file, values }) => ({ file, ...structureIssues(values) }));
  const tooDeep = structure.flatMap(({ file, tooDeep }) => inFile(file, tooDeep));
  if (tooDeep.length > 0) return { issues: tooDeep, deprecations: [] };
  const merged = new MergedKeys(files);
  const { value, issues } = readSystem(system, (key) => merged.value(key));
  const own = issues.map((issue) => merged.locate(issue));
  const placeOf = ({ file, path }: FileIssue) => `${file}: ${formatPath(path)}`;
  const said = new Set(own.map(placeOf));
  return {
    value,
    issues: [
      ...merged.issues,
      ...own,
      ...structure
        .flatMap(({ file, issues }) => inFile(file, issues))
        .filter((issue) => !said.has(placeOf(issue))),
    ],
    deprecations: merged.deprecations,
  };
}

/** Returns issues of keys that are unknown, belong to another system, or are wrongly encrypted or not encrypted. */
function keyIssues(
  keys: ConfigurationReader,
  { stack, layer }: ConfigurationFiles,
  system: System | undefined,
): FileIssue[] {
  const { project, values } = keys;
  const all = Object.keys(values);
  const ours = all.filter((key) => key.startsWith(`${project}:`));
  const own = ours.flatMap((fullKey) => {
    const key = fullKey.slice(project.length + 1);
    const message = isKnown(key)
      ? (foreignKey(key, system, project) ?? wronglyKept(key, fullKey, keys))
      : unknownKey(key, project);
    return issueAt([key], message);
  });
  const ofLayer = Object.keys(layer?.values ?? {}).flatMap((key) =>
    isKnown(key) ? issueAt([key], foreignKey(key, system, project)) : [],
  );
  return [
    ...inFile(stack.file, [...own, ...all.flatMap((key) => namespaceIssues(key, project))]),
    ...(layer === undefined ? [] : inFile(layer.file, [...layer.issues, ...ofLayer])),
  ];
}

/** Reports a namespace that looks like a typo of the project's: Pulumi accepts it, but the key would not be read. */
function namespaceIssues(fullKey: string, project: string): ValidationIssue[] {
  const [namespace = "", key = ""] = fullKey.split(/:(.*)/s);
  if (namespace === project || nearest(namespace.trim(), [project]) === undefined) return [];
  const meant = quoted(`${project}:${key}`);
  return issueAt(
    [fullKey],
    `is not read, since the namespace is not ${quoted(project)}; did you mean ${meant}?`,
  );
}

const isKnown = (key: string): key is KeyName => Object.hasOwn(CONFIGURATION_KEYS, key);

function unknownKey(key: string, project: string): string {
  const known = Object.keys(CONFIGURATION_KEYS);
  const inCluster = nearest(key, known) === undefined && Object.hasOwn(ClusterInput.shape, key);
  return inCluster ? `is not known here; write it under ${project}:cluster` : unknownWord(key, known);
}

function foreignKey(key: KeyName, system: System | undefined, project: string): string | undefined {
  const { systems = SYSTEMS }: ConfigurationKey = CONFIGURATION_KEYS[key];
  if (system === undefined || systems.includes(system)) return undefined;
  const [first = "", ...others] = systems;
  if (others.length === 0)
    return `belongs to the system "${first}"; remove it, or write ${project}:system: ${first}`;
  const named = systems.map((one) => `"${one}"`).join(", ");
  return `belongs to the systems ${named}; remove it, or write one of them as ${project}:system`;
}

function wronglyKept(key: KeyName, fullKey: string, keys: ConfigurationReader): string | undefined {
  const { secret } = CONFIGURATION_KEYS[key];
  if (secret === keys.isSecret(fullKey)) return undefined;
  // only the name of the output is in the file
  if (secret && isReference(keys.values[fullKey])) return undefined;
  return secret
    ? `is not encrypted; set it with: pulumi config set --secret ${fullKey}`
    : "is encrypted, but it is shown in previews; write it in plain text, and secrets in the keys made for them";
}
