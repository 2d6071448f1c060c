import { messageOf } from "../error-message";
import { isObject } from "../json";
import { quoted } from "../text/quote";
import { unknownWord } from "../validation/spelling";
import { issueAt, type ValidationIssue } from "../validation/validation-issue";
import { readYaml } from "../yaml";
import { isReference } from "./shared-values";

/** The key of a stack file that names its layer, without the project. */
export const LAYER_KEY = "layer";

/** The file of a layer as it was read. */
export interface LayerText {
  /** For messages: "layers/prod.yaml". */
  readonly file: string;
  readonly text: string;
}

/** What stacks have in common: values of the configuration, by key without the project. */
export interface Layer {
  readonly file: string;
  readonly text: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly issues: readonly ValidationIssue[];
}

/** What a layer has to know of a key. */
type KnownKeys = Readonly<Record<string, { readonly secret: boolean; readonly type: "string" | "object" }>>;

/** Returns why a text can't be the name of a layer: the name is part of a file's path. */
export function layerNameIssue(name: string): string | undefined {
  return /^[A-Za-z0-9]([A-Za-z0-9._-]{0,78}[A-Za-z0-9])?$/.test(name)
    ? undefined
    : `${quoted(name)} is not the name of a layer; write the name of a file in layers/ without ".yaml": letters, digits, "-", "_" and "."`;
}

/** Reads a layer. It has the form of a stack file without secrets; values of secret keys are left out. */
export function parseLayer({ file, text }: LayerText, project: string, known: KnownKeys): Layer {
  let value: unknown;
  try {
    value = readYaml(text, { merge: true }) ?? {};
  } catch (error) {
    return broken({ file, text }, messageOf(error));
  }
  if (!isObject(value))
    return broken({ file, text }, `is not a map; write config: with keys such as ${project}:cluster`);
  const config = value["config"] ?? {};
  const issues = Object.keys(value).flatMap((key) =>
    issueAt([key], key === "config" ? undefined : "belongs to a stack file; a layer has only config:"),
  );
  if (!isObject(config)) return broken({ file, text }, "is not a map", ["config"]);
  const keys = Object.entries(config).map(([fullKey, of]) => ({ ...keyOf(fullKey, of, project, known), of }));
  return {
    file,
    text,
    values: Object.fromEntries(
      keys.flatMap(({ key, issue, of }) => (issue === undefined ? [[key, of]] : [])),
    ),
    issues: [...issues, ...keys.flatMap(({ key, issue }) => issueAt([key], issue))],
  };
}

const broken = (of: LayerText, message: string, path: string[] = []): Layer => ({
  ...of,
  values: {},
  issues: issueAt(path.length > 0 ? path : ["the file"], message),
});

function keyOf(
  fullKey: string,
  value: unknown,
  project: string,
  known: KnownKeys,
): { key: string; issue?: string } {
  const key = fullKey.slice(project.length + 1);
  if (Object.hasOwn(known, fullKey))
    return { key: fullKey, issue: `is without its project; write "${project}:${fullKey}"` };
  if (!fullKey.startsWith(`${project}:`))
    return {
      key: fullKey,
      issue: `is not a key of ${project}; a provider's keys are set in each stack file`,
    };
  if (key === LAYER_KEY) return { key, issue: "is read in a stack file only: a layer has no layer below it" };
  if (!Object.hasOwn(known, key)) return { key, issue: unknownWord(key, Object.keys(known)) };
  if (known[key]?.secret && !isReference(value))
    return {
      key,
      issue: `is secret, and a layer is not encrypted; remove it (replace a secret that was shown), and for each stack run: pulumi config set --secret ${fullKey}`,
    };
  // a map of the stack file would silently replace it
  if (known[key]?.type === "object" && !isObject(value) && value !== null && !isReference(value))
    return { key, issue: "is not a map; write its fields below it, or remove it" };
  return { key };
}
