import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { isAlias, isMap, isScalar, isSeq, type Document, type Scalar } from "yaml";
import { messageOf } from "../../../lib/error-message";
import { fileFault } from "../../../lib/files";
import { listed } from "../../../lib/text/quote";
import { readYamlDocument } from "../../../lib/yaml";
import type { CloudEntry } from "../plan/clouds-entry";
import { isReadAlike } from "../plan/clouds-scalars";
import { CloudConfigurationError } from "./errors";

type Environment = Readonly<Record<string, string | undefined>>;
type Clouds = Readonly<Record<string, CloudEntry | null>>;

/** Suffixes that openstacksdk looks for, in this order; Pulumi's OpenStack provider reads no JSON. */
const SUFFIXES = [".yaml", ".yml", ".json"];

/** The folders of the files, as both programs look through them. */
interface Folders {
  sdk: readonly string[];
  provider: readonly string[];
}

/**
 * Reads an entry of clouds.yaml, with the fields that secure.yaml adds, from the files that openstacksdk finds. Refuses
 * files that Pulumi's OpenStack provider would not find.
 *
 * @throws CloudConfigurationError
 */
export async function readCloudEntry(
  cloud: string,
  environment: Environment,
  folder: string,
): Promise<CloudEntry> {
  const folders = foldersOf(environment, folder);
  const found = await firstFile("clouds", cloud, folders, environment.OS_CLIENT_CONFIG_FILE);
  if (found === undefined)
    throw new CloudConfigurationError(
      `there is no clouds.yaml for the cloud "${cloud}"; looked for ${listed(
        [
          environment.OS_CLIENT_CONFIG_FILE ?? [],
          folders.provider.map((each) => path.join(each, "clouds.yaml")),
        ].flat(),
      )}`,
    );
  const entry = found.clouds[cloud];
  if (entry === null || typeof entry !== "object")
    throw new CloudConfigurationError(
      `${found.file} has no entry "${cloud}"; it has ${listed(Object.keys(found.clouds)) || "none"}`,
    );
  const secret = await secretsOf(cloud, folders, environment);
  return { ...entry, ...secret, auth: { ...entry.auth, ...secret.auth } };
}

/** Reads what secure.yaml adds to the entry of a cloud. */
async function secretsOf(cloud: string, folders: Folders, environment: Environment): Promise<CloudEntry> {
  const named = environment.OS_CLIENT_SECURE_FILE;
  const found = await firstFile("secure", cloud, folders);
  const secret = found?.clouds[cloud] ?? {};
  if (!named) return secret;
  const other = await readClouds(named, cloud, true);
  const isSame = JSON.stringify(other?.[cloud] ?? secret) === JSON.stringify(secret);
  if (!isSame)
    throw new CloudConfigurationError(
      `OS_CLIENT_SECURE_FILE (${named}) has fields of the cloud "${cloud}", and Pulumi's OpenStack provider does not read this variable; ` +
        `move the file to ${path.join(folders.provider[1] ?? "", "secure.yaml")}`,
    );
  return secret;
}

function foldersOf({ HOME, XDG_CONFIG_HOME }: Environment, folder: string): Folders {
  const own = path.join(HOME ?? homedir(), ".config", "openstack");
  const site = path.join("/etc", "openstack");
  const moved = XDG_CONFIG_HOME ? [path.join(XDG_CONFIG_HOME, "openstack")] : [];
  return { sdk: [folder, ...moved, own, site], provider: [folder, own, site] };
}

/** Returns the first file that openstacksdk finds. @throws CloudConfigurationError if the provider finds another one */
async function firstFile(
  name: "clouds" | "secure",
  cloud: string,
  { sdk, provider }: Folders,
  named?: string,
): Promise<{ file: string; clouds: Clouds } | undefined> {
  const first = async (files: readonly string[]) => {
    for (const file of files) {
      const clouds = await readClouds(file, cloud, name === "secure");
      if (clouds !== undefined) return { file, clouds };
    }
    return undefined;
  };
  const given = named ? [named] : [];
  const found = await first([
    ...given,
    ...sdk.flatMap((folder) => SUFFIXES.map((suffix) => path.join(folder, name + suffix))),
  ]);
  const providers = await first([
    ...given,
    ...SUFFIXES.slice(0, 2).flatMap((suffix) => provider.map((folder) => path.join(folder, name + suffix))),
  ]);
  if (found?.file === providers?.file) return found;
  throw new CloudConfigurationError(
    `openstacksdk reads ${found?.file}, and Pulumi's OpenStack provider ${providers?.file ?? "no such file"}; ` +
      `write one ${name}.yaml, in ${provider[1]}`,
  );
}

/**
 * Reads the clouds of a file. Returns undefined if the file does not exist.
 *
 * @param cloud the entry that is used: its values of `auth` have to be read alike
 * @param mayHaveNone whether a file without `clouds` counts as one with an empty map
 */
async function readClouds(file: string, cloud: string, mayHaveNone = false): Promise<Clouds | undefined> {
  const content = await readText(file, file, true);
  if (content === undefined) return undefined;
  let value: { clouds?: unknown } | null;
  try {
    const document = readYamlDocument(content, { merge: true });
    for (const { value: read, source, type, range } of loginScalars(document, cloud)) {
      if (type !== "PLAIN" || isReadAlike(read, source ?? "")) continue;
      const line = content.slice(0, range?.[0]).split("\n").length;
      throw new CloudConfigurationError(
        `${file}, line ${line}: programs read this value of \`auth\` in different ways; write it in quotes`,
      );
    }
    value = document.toJS({ maxAliasCount: 256 }) as typeof value;
  } catch (error) {
    if (error instanceof CloudConfigurationError) throw error;
    throw new CloudConfigurationError(`${file} ${messageOf(error)}`);
  }
  const clouds = value?.clouds;
  if (mayHaveNone && (clouds === undefined || clouds === null)) return {};
  if (typeof clouds !== "object" || clouds === null)
    throw new CloudConfigurationError(`${file} has no map \`clouds\``);
  return clouds as Clouds;
}

/** Returns the scalars in the `auth` of an entry, also of what it merges or refers to. */
function loginScalars(document: Document.Parsed, cloud: string): Scalar.Parsed[] {
  const seen = { login: new Set<unknown>(), other: new Set<unknown>() };
  const below = (node: unknown, isLogin: boolean): Scalar.Parsed[] => {
    if (isAlias(node)) return below(node.resolve(document), isLogin);
    if (isScalar(node)) return isLogin ? [node as Scalar.Parsed] : [];
    const before = isLogin ? seen.login : seen.other;
    if (before.has(node)) return [];
    before.add(node);
    if (isSeq(node)) return node.items.flatMap((item) => below(item, isLogin));
    if (!isMap(node)) return [];
    return node.items.flatMap(({ key, value }) =>
      below(value, isLogin || (isScalar(key) && key.value === "auth")),
    );
  };
  return valuesIn(document, document.contents, "clouds")
    .flatMap((clouds) => valuesIn(document, clouds, cloud))
    .flatMap((entry) => below(entry, false));
}

/** Returns what a map has under a key, also a map that is referred to, and what it merges if it has no such key. */
function valuesIn(
  document: Document.Parsed,
  node: unknown,
  key: string,
  seen = new Set<unknown>(),
): unknown[] {
  const map = isAlias(node) ? node.resolve(document) : node;
  if (seen.has(map)) return [];
  seen.add(map);
  if (isSeq(map)) return map.items.flatMap((item) => valuesIn(document, item, key, seen));
  if (!isMap(map)) return [];
  const named = (name: string) =>
    map.items.filter(({ key }) => isScalar(key) && nameOf(key.value) === name).map(({ value }) => value);
  const own = named(key);
  return own.length > 0 ? own : named("<<").flatMap((merged) => valuesIn(document, merged, key, seen));
}

/** Returns the text of a key; the key of a merge is read as a symbol. */
const nameOf = (key: unknown) => (typeof key === "symbol" ? key.description : String(key));

/** Reads a file. Returns undefined if it is optional and does not exist. @throws CloudConfigurationError */
export async function readText(file: string, what: string, isOptional = false): Promise<string | undefined> {
  return readFile(file.replace(/^~(?=\/)/, homedir()), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (isOptional && error.code === "ENOENT") return undefined;
    throw new CloudConfigurationError(`${what} can't be read: ${fileFault(error) ?? error.message}`);
  });
}
