import { parseJson } from "../../lib/json";
import { LAYER_KEY, layerNameIssue, parseLayer, type Layer } from "../../lib/layers/layer";
import { LayerFileError } from "../../lib/layers/layer-file";
import { isFromOver, mergeOver } from "../../lib/layers/merge";
import { type Renamed, renameFields } from "../../lib/validation/renames";
import { issueAt, type ValidationIssue } from "../../lib/validation/validation-issue";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName } from "./keys";
import type { ConfigurationReader } from "./reader";

/** Values of the configuration as a file has them, by key without the project. */
type WrittenKeys = Partial<Record<KeyName, unknown>>;

/** The stack file, and the layer below it. */
export interface ConfigurationFiles {
  readonly stack: { readonly file: string; readonly values: WrittenKeys };
  readonly layer?: {
    readonly file: string;
    readonly text: string;
    readonly values: WrittenKeys;
    readonly issues: readonly ValidationIssue[];
  };
  /** Why the layer can't be read at all; nothing else is worth a message then. */
  readonly issues: FileIssue[];
}

/** A validation issue of one of the files. */
export interface FileIssue extends ValidationIssue {
  readonly file: string;
}

/** Returns the issues of a file. */
export const inFile = (file: string, issues: readonly ValidationIssue[]): FileIssue[] =>
  issues.map((issue) => ({ ...issue, file }));

/** Returns the files from the upper one down. */
export const allFiles = ({ stack, layer }: ConfigurationFiles) =>
  layer === undefined ? [stack] : [stack, layer];

/** Reads the stack file's values, and the layer that it names. */
export function readFiles(reader: ConfigurationReader): ConfigurationFiles {
  const stack = { file: `Pulumi.${reader.stack}.yaml`, values: stackValues(reader) };
  const name = reader.values[`${reader.project}:${LAYER_KEY}`];
  if (name === undefined) return { stack, issues: [] };
  const layer = readLayer(reader, name);
  if (typeof layer === "string") return { stack, issues: inFile(stack.file, issueAt([LAYER_KEY], layer)) };
  // without values, every further message would be about what is missing
  if (layer.issues.length > 0 && Object.keys(layer.values).length === 0)
    return { stack, layer, issues: inFile(layer.file, layer.issues) };
  return { stack, layer, issues: [] };
}

function stackValues({ project, values }: ConfigurationReader): WrittenKeys {
  const keys = Object.entries<ConfigurationKey>(CONFIGURATION_KEYS).flatMap(([key, { type }]) => {
    const text = values[`${project}:${key}`];
    if (text === undefined) return [];
    // the engine passes objects as JSON; the rules refuse any other text, and name a field that is nested too deep
    const object = type === "object" ? parseJson(text, Infinity) : undefined;
    return [[key, object === undefined ? text : object]];
  });
  return Object.fromEntries(keys) as WrittenKeys;
}

/** @returns why it can't be read, or the layer with its own issues */
function readLayer(reader: ConfigurationReader, name: string): Layer | string {
  const issue = layerNameIssue(name);
  if (issue !== undefined) return issue;
  if (reader.readLayer === undefined)
    return "is not supported by this reader of the configuration; remove it";
  try {
    return parseLayer(reader.readLayer(name), reader.project, CONFIGURATION_KEYS);
  } catch (error) {
    if (error instanceof LayerFileError) return error.message;
    throw error;
  }
}

/** The keys of both files by their current names, and where each value was written. */
export class MergedKeys {
  private readonly keys: ReadonlyMap<string, { stack: Renamed; layer: Renamed }>;

  constructor(private readonly files: ConfigurationFiles) {
    const names = new Set(allFiles(files).flatMap(({ values }) => Object.keys(values))) as Set<KeyName>;
    this.keys = new Map(
      [...names].map((key) => {
        const { renames = {} }: ConfigurationKey = CONFIGURATION_KEYS[key];
        const read = (values: WrittenKeys | undefined) => renameFields(values?.[key], renames, [key]);
        return [key, { stack: read(files.stack.values), layer: read(files.layer?.values) }];
      }),
    );
  }

  value(key: KeyName): unknown {
    const found = this.keys.get(key);
    if (found === undefined || this.files.layer === undefined) return found?.stack.value;
    return mergeOver(found.layer.value ?? {}, found.stack.value);
  }

  /** Returns an issue of a merged value with the file and the path where the value was written. */
  locate({ path, message }: ValidationIssue): FileIssue {
    const { stack, layer } = this.files;
    const found = this.keys.get(String(path[0]));
    if (
      layer === undefined ||
      found === undefined ||
      isFromOver(found.layer.value, found.stack.value, path.slice(1))
    )
      return { file: stack.file, path: found?.stack.written(path) ?? path, message };
    return { file: layer.file, path: found.layer.written(path), message };
  }

  /** Fields that a file gives by both their names. */
  get issues(): FileIssue[] {
    return this.ofBoth("issues");
  }

  /** Fields with old names. */
  get deprecations(): FileIssue[] {
    return this.ofBoth("deprecations");
  }

  private ofBoth(which: "issues" | "deprecations"): FileIssue[] {
    const { stack, layer } = this.files;
    return [...this.keys.values()].flatMap((found) => [
      ...inFile(stack.file, found.stack[which]),
      ...inFile(layer?.file ?? "", found.layer[which]),
    ]);
  }
}
