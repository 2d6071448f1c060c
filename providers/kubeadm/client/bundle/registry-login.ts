import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { isObject, readJsonObjectOf } from "../../../../lib/json";
import { isPlainHttpToOtherHost } from "../../../../lib/validation/urls";
import { ask, contentOf } from "./persistence";

const MOST_TOKEN_BYTES = 1 << 20;

/**
 * Reads the logins that `podman login` and `docker login` wrote: those of REGISTRY_AUTH_FILE, or of config.json in DOCKER_CONFIG or
 * ~/.docker.
 *
 * @returns "user:password" in base64 for each host
 */
export async function readLogins(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ReadonlyMap<string, string>> {
  const folder = environment["DOCKER_CONFIG"] ?? path.join(homedir(), ".docker");
  const file = environment["REGISTRY_AUTH_FILE"] ?? path.join(folder, "config.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const { auths } = text === undefined ? {} : readJsonObjectOf(file, text);
  const logins = new Map<string, string>();
  for (const [server, entry] of Object.entries(isObject(auths) ? auths : {}))
    if (isObject(entry) && typeof entry["auth"] === "string")
      logins.set(server.replace(/^https?:\/\//, "").replace(/\/.*$/, ""), entry["auth"]);
  return logins;
}

/** Returns the parameters of a challenge such as `Bearer realm="…",service="…"`; undefined for another scheme. */
function parametersOf(challenge: string, scheme: string): ReadonlyMap<string, string> | undefined {
  if (!new RegExp(`^${scheme}\\b`, "i").test(challenge)) return undefined;
  return new Map(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

/**
 * Returns the header Authorization that a registry asks for, by its answer 401.
 *
 * @param login "user:password" in base64; without one, registries give tokens for what is public
 * @throws Error if the registry asks for a login that is not there
 */
export async function authorizationFor(
  challenge: string,
  { host, repository, login }: { host: string; repository: string; login?: string },
  idleMilliseconds: number,
): Promise<string> {
  const basic = login === undefined ? undefined : `Basic ${login}`;
  const bearer = parametersOf(challenge, "Bearer");
  const realm = bearer?.get("realm");
  if (realm === undefined || !URL.canParse(realm)) {
    if (basic !== undefined) return basic;
    throw new Error(`${host} asks for a login; run: docker login ${host}`);
  }
  if (isPlainHttpToOtherHost(realm))
    throw new Error(`${host} gives tokens by plain http only (${new URL(realm).host})`);
  const url = new URL(realm);
  const service = bearer?.get("service");
  if (service !== undefined) url.searchParams.set("service", service);
  url.searchParams.set("scope", `repository:${repository}:pull`);
  const headers = basic === undefined ? {} : { authorization: basic };
  const response = await ask(url.href, { headers, idleMilliseconds }, [200]);
  const answer = readJsonObjectOf(
    `the token of ${url.host}`,
    (await contentOf(response, MOST_TOKEN_BYTES)).toString(),
  );
  const token = answer["token"] ?? answer["access_token"];
  if (typeof token !== "string") throw new Error(`${url.host} gave no token for ${repository}`);
  return `Bearer ${token}`;
}
