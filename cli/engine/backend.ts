import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, readJsonObjectOf } from "../../lib/json";
import { parseYaml } from "../../lib/yaml";

/** Where the engine keeps state and locks. */
export type StateBackend =
  | { readonly kind: "folder"; /** Contains `.pulumi`. */ readonly folder: string }
  /** A bucket or a database, with the same objects as a folder; only the engine reads them. */
  | { readonly kind: "remote" }
  /** Pulumi Cloud or a server like it, which has its own locks; undefined without a login. */
  | { readonly kind: "service"; readonly url: string | undefined };

/** What the engine stores like a folder. */
const REMOTE = /^(?:postgres|s3|gs|azblob):\/\//;

/**
 * Returns the backend that `pulumi` would use: PULUMI_BACKEND_URL, else `backend.url` of Pulumi.yaml, else the last
 * `pulumi login`.
 *
 * @param project the folder with Pulumi.yaml, if there is one
 */
export async function findBackend(project = process.cwd(), environment = process.env): Promise<StateBackend> {
  const url =
    environment["PULUMI_BACKEND_URL"] ?? (await backendOfProject(project)) ?? (await lastLogin(environment));
  if (url !== undefined && REMOTE.test(url)) return { kind: "remote" };
  if (url === undefined || !url.startsWith("file://")) return { kind: "service", url };
  const location = url.slice("file://".length);
  if (location === "~" || location.startsWith("~/"))
    return { kind: "folder", folder: path.join(homedir(), location.slice(1)) };
  return {
    kind: "folder",
    folder: location.startsWith("/") ? fileURLToPath(url) : path.resolve(project, location),
  };
}

async function backendOfProject(folder: string): Promise<string | undefined> {
  const text = await readFile(path.join(folder, "Pulumi.yaml"), "utf8").catch(() => "");
  const project = parseYaml(text);
  const backend = isObject(project) ? project.backend : undefined;
  return isObject(backend) && typeof backend.url === "string" ? backend.url : undefined;
}

async function lastLogin(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const home = environment["PULUMI_HOME"] ?? path.join(homedir(), ".pulumi");
  const text = await readFile(path.join(home, "credentials.json"), "utf8").catch(() => "{}");
  const { current } = readJsonObjectOf("the file credentials.json of pulumi login", text);
  return typeof current === "string" ? current : undefined;
}
