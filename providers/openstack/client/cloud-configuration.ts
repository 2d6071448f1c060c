import { cloudEntryIssue, isTrue, withoutUrl, type CloudEntry } from "../plan/clouds-entry";
import type { CloudRef } from "../plan/cloud-facts";
import { readCloudEntry, readText } from "./clouds-files";
import { CloudConfigurationError } from "./errors";

export interface CloudConfiguration {
  /** URL of Keystone with its version: "https://cloud.example.com:5000/v3". */
  authUrl: string;
  /** The credentials as `auth` in Keystone's request for a token; secret. */
  auth: {
    identity?: { application_credential?: { id?: string }; [field: string]: unknown };
    scope?: { project?: Identity; domain?: object };
  };
  /** The entry of clouds.yaml; absent if only variables name the cloud. */
  cloud?: string;
  region?: string;
  /** Region of the entry or the environment, which applies if the stack names none. */
  entryRegion?: string;
  interface: string;
  /** PEM certificates. */
  caCertificates?: string;
  /** Whether TLS certificates are verified. */
  verify: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a cloud's configuration as openstacksdk does, and refuses what Pulumi's OpenStack provider would read in another
 * way: from the entry in clouds.yaml (and secure.yaml) that `desired.cloud` or OS_CLOUD names, or else from the OS_…
 * variables.
 *
 * Source: https://docs.openstack.org/python-openstackclient/latest/configuration/
 *
 * @throws CloudConfigurationError
 */
export async function readCloudConfiguration(
  desired: CloudRef,
  environment: Environment = process.env,
  folder = process.cwd(),
): Promise<CloudConfiguration> {
  // a variable that is set to nothing names none
  const cloud = desired.cloud ?? (environment.OS_CLOUD || undefined);
  const isNamed = cloud !== undefined;
  const entry = isNamed ? await readCloudEntry(cloud, environment, folder) : entryOfEnvironment(environment);
  const where = isNamed ? `the entry "${cloud}" of clouds.yaml` : "the environment";
  const issue = cloudEntryIssue(entry, environment, { region: desired.region, isNamed });
  if (issue !== undefined) throw new CloudConfigurationError(`${where} ${issue}`);
  const { auth = {} } = entry;
  const authUrl = text(auth.auth_url)?.replace(/\/+$/, "");
  if (authUrl === undefined)
    throw new CloudConfigurationError(
      isNamed
        ? `${where} has no auth.auth_url`
        : "no cloud is named: write `cloud` under foresail:openstack, or set OS_CLOUD or OS_AUTH_URL",
    );
  const chosen = text(entry.endpoint_type) ?? text(entry.interface) ?? "public";
  const endpoints = withoutUrl(chosen);
  if (!["public", "internal", "admin"].includes(endpoints))
    throw new CloudConfigurationError(`"${chosen}" is not an interface; write public, internal or admin`);
  const caFile = text(entry.cacert) ?? (environment.OS_CACERT || undefined);
  const entryRegion = text(entry.region_name) ?? (environment.OS_REGION_NAME || undefined);
  return {
    ...(cloud === undefined ? {} : { cloud }),
    authUrl: authUrl.endsWith("/v3") ? authUrl : `${authUrl}/v3`,
    auth: keystoneAuth(auth, where),
    region: desired.region ?? entryRegion,
    entryRegion,
    interface: endpoints,
    caCertificates: caFile === undefined ? undefined : await readText(caFile, `the CA file ${caFile}`),
    verify: entry.verify !== false && !isTrue(environment.OS_INSECURE ?? ""),
  };
}

/** Returns the environment as an entry, as Pulumi's provider reads it: OS_AUTH_URL is its `auth.auth_url`. */
function entryOfEnvironment(environment: Environment): CloudEntry {
  const variables = Object.entries(environment).filter(([name]) => name.startsWith("OS_"));
  const auth = Object.fromEntries(variables.map(([name, value]) => [name.slice(3).toLowerCase(), value]));
  const { OS_TENANT_ID, OS_TENANT_NAME, OS_ENDPOINT_TYPE, OS_INTERFACE } = environment;
  return {
    auth: {
      ...auth,
      project_id: OS_TENANT_ID || auth.project_id,
      project_name: OS_TENANT_NAME || auth.project_name,
    },
    endpoint_type: OS_ENDPOINT_TYPE || OS_INTERFACE,
  };
}

function keystoneAuth(auth: Fields, where: string): CloudConfiguration["auth"] {
  const user = identity(auth, "user_id", "username", "user_domain");
  const secret = text(auth.application_credential_secret);
  if (secret !== undefined) {
    const id = text(auth.application_credential_id);
    const name = text(auth.application_credential_name);
    if (id === undefined && (name === undefined || !user))
      throw new CloudConfigurationError(
        `${where} has an application_credential_secret and neither application_credential_id nor a name with its user`,
      );
    const credential = id === undefined ? { name, user, secret } : { id, secret };
    return { identity: { methods: ["application_credential"], application_credential: credential } };
  }
  const password = text(auth.password);
  if (password === undefined || !user)
    throw new CloudConfigurationError(
      `${where} has neither an application credential (application_credential_id and …_secret) nor a user with a password`,
    );
  const project = identity(auth, "project_id", "project_name", "project_domain");
  const { id, name } = identity(auth, "domain_id", "domain_name", "domain") ?? {};
  const domain = (id ?? name) === undefined ? undefined : { domain: { id, name } };
  return {
    identity: { methods: ["password"], password: { user: { ...user, password } } },
    scope: project ? { project } : domain,
  };
}

interface Identity {
  id?: string;
  name?: string;
  domain?: object;
}

/** Returns a user, project or domain as Keystone's requests name it: by id, or by name in a domain. */
function identity(auth: Fields, idField: string, nameField: string, domain: string): Identity | undefined {
  const [id, name] = [text(auth[idField]), text(auth[nameField])];
  if (id !== undefined) return { id };
  if (name === undefined) return undefined;
  const domainId = text(auth[`${domain}_id`]) ?? text(auth.domain_id);
  const domainName = text(auth[`${domain}_name`]) ?? text(auth.domain_name);
  if (domainId !== undefined) return { name, domain: { id: domainId } };
  // an entry of clouds.yaml has a domain; the provider takes this one for the OS_… variables
  return {
    name,
    domain: domainName === undefined ? { id: text(auth.default_domain) ?? "default" } : { name: domainName },
  };
}

/** Returns a YAML value as a string. YAML parses an id of digits only as a number. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
