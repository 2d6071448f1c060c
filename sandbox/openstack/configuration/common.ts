import path from "node:path";
import { publicAddress, type CloudPaths, type CloudSettings, type ServiceName } from "../settings";

/** What every service's configuration is made from. */
export interface Configured {
  readonly settings: CloudSettings;
  readonly places: CloudPaths;
  /** The folder of the Python environment, which holds the services' own files under etc/. */
  readonly environment: string;
}

export const REGION = "RegionOne";

/** The user that the services are among themselves. */
export const SERVICE_USER = "foresail-services";

/** Where a service answers its peers. */
export function internalUrl(settings: CloudSettings, service: ServiceName): string {
  return `http://127.0.0.1:${settings.ports.internal[service]}`;
}

/** Where a service answers clients. */
export function publicUrl(settings: CloudSettings, service: ServiceName): string {
  return `http://${publicAddress(settings)}:${settings.ports.public[service]}`;
}

/** The in-memory messages of a service that is one process. */
export const NO_BROKER = "fake:///";

export function logFile({ places: paths }: Configured, service: ServiceName): string {
  return path.join(paths.logs, `${service}.log`);
}

/** The SQLite database of a name. */
export function database({ places: paths }: Configured, name: string): string {
  return `sqlite:///${path.join(paths.databases, `${name}.db`)}`;
}

/** How a service logs in to ask another. */
export function serviceLogin({ settings }: Configured): Record<string, string> {
  return {
    auth_type: "password",
    auth_url: `${internalUrl(settings, "keystone")}/v3`,
    username: SERVICE_USER,
    password: settings.passwords.service,
    project_name: "service",
    user_domain_name: "Default",
    project_domain_name: "Default",
    region_name: REGION,
    valid_interfaces: "internal",
  };
}

/** How a service checks the tokens that its callers bring. */
export function tokenCheck(configured: Configured): Record<string, string | boolean> {
  const { valid_interfaces: _, ...login } = serviceLogin(configured);
  return {
    ...login,
    interface: "internal",
    www_authenticate_uri: publicUrl(configured.settings, "keystone"),
    service_token_roles_required: false,
  };
}
