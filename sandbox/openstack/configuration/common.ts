import path from "node:path";
import { publicAddress, type CloudPaths, type CloudSettings, type ServiceName } from "../settings";

/** The input of every service's configuration. */
export interface Configured {
  readonly settings: CloudSettings;
  readonly paths: CloudPaths;
  /** The folder of the Python environment, which holds the services' own files under etc/. */
  readonly environment: string;
}

export const REGION = "RegionOne";

/** The user with which services authenticate to each other. */
export const SERVICE_USER = "foresail-services";

/** Returns the address of a service for its peers. */
export function internalUrl(settings: CloudSettings, service: ServiceName): string {
  return `http://127.0.0.1:${settings.ports.internal[service]}`;
}

/** Returns the address of a service for clients. */
export function publicUrl(settings: CloudSettings, service: ServiceName): string {
  return `http://${publicAddress(settings)}:${settings.ports.public[service]}`;
}

/** Returns the in-memory message transport of a single-process service. */
export const NO_BROKER = "fake:///";

export function logFile({ paths }: Configured, service: ServiceName): string {
  return path.join(paths.logs, `${service}.log`);
}

/** Returns the SQLite database with this name. */
export function database({ paths }: Configured, name: string): string {
  return `sqlite:///${path.join(paths.databases, `${name}.db`)}`;
}

/** Returns the options with which a service logs in to call another. */
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

/** Returns the options with which a service checks its callers' tokens. */
export function tokenCheck(configured: Configured): Record<string, string | boolean> {
  const { valid_interfaces: _, ...login } = serviceLogin(configured);
  return {
    ...login,
    interface: "internal",
    www_authenticate_uri: publicUrl(configured.settings, "keystone"),
    service_token_roles_required: false,
  };
}
