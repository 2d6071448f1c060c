import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { CloudConfigurationError } from "./errors";

/** Credentials for Keystone; secret as a whole. */
export type CloudCredentials =
  | { kind: "application-credential"; id?: string; name?: string; user?: Identity; secret: string }
  | { kind: "password"; user: Identity; password: string; project?: Identity; domain?: Identity };

/** A Keystone object, by id or by name in a domain. */
export interface Identity {
  id?: string;
  name?: string;
  domain?: { id: string } | { name: string };
}

export interface CloudConfiguration {
  /** URL of Keystone with its version: "https://cloud.example.com:5000/v3". */
  authUrl: string;
  credentials: CloudCredentials;
  region?: string;
  interface: "public" | "internal" | "admin";
  /** PEM certificates. */
  caCertificates?: string;
  /** Whether TLS certificates are verified. */
  verify: boolean;
}

interface CloudEntry {
  auth?: Record<string, unknown>;
  auth_type?: unknown;
  region_name?: unknown;
  regions?: unknown;
  interface?: unknown;
  endpoint_type?: unknown;
  cacert?: unknown;
  verify?: unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables for the fields of an entry's `auth`. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  auth_url: "OS_AUTH_URL",
  application_credential_id: "OS_APPLICATION_CREDENTIAL_ID",
  application_credential_name: "OS_APPLICATION_CREDENTIAL_NAME",
  application_credential_secret: "OS_APPLICATION_CREDENTIAL_SECRET",
  username: "OS_USERNAME",
  user_id: "OS_USER_ID",
  password: "OS_PASSWORD",
  project_id: "OS_PROJECT_ID",
  project_name: "OS_PROJECT_NAME",
  user_domain_id: "OS_USER_DOMAIN_ID",
  user_domain_name: "OS_USER_DOMAIN_NAME",
  project_domain_id: "OS_PROJECT_DOMAIN_ID",
  project_domain_name: "OS_PROJECT_DOMAIN_NAME",
  domain_id: "OS_DOMAIN_ID",
  domain_name: "OS_DOMAIN_NAME",
};

/**
 * Reads a cloud's configuration as openstacksdk does: from the entry in clouds.yaml (and secure.yaml in the same
 * folder) that `desired.cloud` or OS_CLOUD names, or else from the OS_… variables.
 *
 * Files: OS_CLIENT_CONFIG_FILE, ./clouds.yaml, ~/.config/openstack/clouds.yaml, /etc/openstack/clouds.yaml.
 * Source: https://docs.openstack.org/python-openstackclient/latest/configuration/
 *
 * @throws CloudConfigurationError
 */
export async function readCloudConfiguration(
  desired: { cloud?: string; region?: string },
  environment: Environment = process.env,
  folder = process.cwd(),
): Promise<CloudConfiguration> {
  const cloud = desired.cloud ?? environment.OS_CLOUD;
  const entry =
    cloud === undefined ? entryOfEnvironment(environment) : await entryOfFiles(cloud, environment, folder);
  const where = cloud === undefined ? "the environment" : `the entry "${cloud}" of clouds.yaml`;
  const auth = entry.auth ?? {};
  const authUrl = text(auth.auth_url);
  if (authUrl === undefined)
    throw new CloudConfigurationError(
      cloud === undefined
        ? "no cloud is named: write `cloud` under foresail:openstack, or set OS_CLOUD or OS_AUTH_URL"
        : `${where} has no auth.auth_url`,
    );
  const region =
    desired.region ?? text(entry.region_name) ?? environment.OS_REGION_NAME ?? firstRegion(entry.regions);
  const chosen = text(entry.interface) ?? text(entry.endpoint_type) ?? environment.OS_INTERFACE ?? "public";
  const caFile = text(entry.cacert) ?? environment.OS_CACERT;
  return {
    authUrl: versioned(authUrl),
    credentials: credentialsOf(auth, where),
    ...(region === undefined ? {} : { region }),
    interface: interfaceOf(chosen),
    ...(caFile === undefined ? {} : { caCertificates: await readCaFile(caFile) }),
    verify: entry.verify !== false && environment.OS_INSECURE !== "true",
  };
}

function entryOfEnvironment(environment: Environment): CloudEntry {
  const auth = Object.entries(ENVIRONMENT).map(([field, variable]) => [field, environment[variable]]);
  return { auth: Object.fromEntries(auth) as Record<string, unknown> };
}

async function entryOfFiles(cloud: string, environment: Environment, folder: string): Promise<CloudEntry> {
  const home = environment.HOME ?? homedir();
  const places = [
    ...(environment.OS_CLIENT_CONFIG_FILE ? [environment.OS_CLIENT_CONFIG_FILE] : []),
    path.join(folder, "clouds.yaml"),
    path.join(home, ".config", "openstack", "clouds.yaml"),
    "/etc/openstack/clouds.yaml",
  ];
  for (const ref of places) {
    const clouds = await readClouds(ref);
    if (clouds === undefined) continue;
    const entry = clouds[cloud];
    if (entry === undefined)
      throw new CloudConfigurationError(
        `${ref} has no entry "${cloud}"; it has ${Object.keys(clouds).join(", ") || "none"}`,
      );
    const secret = (await readClouds(path.join(path.dirname(ref), "secure.yaml")))?.[cloud];
    return { ...entry, ...secret, auth: { ...entry.auth, ...secret?.auth } };
  }
  throw new CloudConfigurationError(
    `there is no clouds.yaml for the cloud "${cloud}"; looked for ${places.join(", ")}`,
  );
}

/** Reads the clouds of a file. Returns undefined if the file does not exist. */
async function readClouds(ref: string): Promise<Record<string, CloudEntry> | undefined> {
  let content: string;
  try {
    content = await readFile(ref, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CloudConfigurationError(`${ref} can't be read: ${(error as Error).message}`);
  }
  let value: unknown;
  try {
    value = parse(content);
  } catch {
    // The parser's message would quote the line, which may contain a password.
    throw new CloudConfigurationError(`${ref} is no YAML`);
  }
  const clouds = (value as { clouds?: unknown } | null)?.clouds;
  if (typeof clouds !== "object" || clouds === null)
    throw new CloudConfigurationError(`${ref} has no map \`clouds\``);
  return clouds as Record<string, CloudEntry>;
}

function credentialsOf(auth: Record<string, unknown>, where: string): CloudCredentials {
  const user = identity(auth, "user_id", "username", "user_domain");
  const secret = text(auth.application_credential_secret);
  if (secret !== undefined) {
    const id = text(auth.application_credential_id);
    const name = text(auth.application_credential_name);
    if (id !== undefined) return { kind: "application-credential", id, secret };
    if (name !== undefined && user) return { kind: "application-credential", name, user, secret };
    throw new CloudConfigurationError(
      `${where} has an application_credential_secret and neither application_credential_id nor a name with its user`,
    );
  }
  const password = text(auth.password);
  if (password !== undefined && user) {
    const project = identity(auth, "project_id", "project_name", "project_domain");
    const domain = identity(auth, "domain_id", "domain_name", "domain");
    return {
      kind: "password",
      user,
      password,
      ...(project ? { project } : {}),
      ...(!project && domain ? { domain } : {}),
    };
  }
  throw new CloudConfigurationError(
    `${where} has neither an application credential (application_credential_id and …_secret) nor a user with a password`,
  );
}

function identity(
  auth: Record<string, unknown>,
  id: string,
  name: string,
  domain: string,
): Identity | undefined {
  const byId = text(auth[id]);
  if (byId !== undefined) return { id: byId };
  const byName = text(auth[name]);
  if (byName === undefined) return undefined;
  const domainId = text(auth[`${domain}_id`]) ?? text(auth.domain_id);
  const domainName = text(auth[`${domain}_name`]) ?? text(auth.domain_name) ?? "Default";
  return { name: byName, domain: domainId === undefined ? { name: domainName } : { id: domainId } };
}

function versioned(url: string): string {
  const bare = url.replace(/\/+$/, "");
  return /\/v3$/.test(bare) ? bare : `${bare.replace(/\/v2\.0$/, "")}/v3`;
}

function interfaceOf(value: string): CloudConfiguration["interface"] {
  const name = value.replace(/URL$/, "");
  if (name === "public" || name === "internal" || name === "admin") return name;
  throw new CloudConfigurationError(`"${value}" is no interface; write public, internal or admin`);
}

function firstRegion(regions: unknown): string | undefined {
  const [first] = Array.isArray(regions) ? (regions as unknown[]) : [];
  return text(first) ?? text((first as { name?: unknown } | undefined)?.name);
}

async function readCaFile(file: string): Promise<string> {
  try {
    return await readFile(file.replace(/^~(?=\/)/, homedir()), "utf8");
  } catch (error) {
    throw new CloudConfigurationError(`the CA file ${file} can't be read: ${(error as Error).message}`);
  }
}

/** Returns a YAML value as a string. YAML parses an id of digits only as a number. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
