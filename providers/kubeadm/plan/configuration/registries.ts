import { ownValue } from "../../../../lib/json";

/** What containerd may ask a mirror or server for. */
export const CAPABILITIES = ["pull", "resolve", "push"] as const;

/** How containerd asks one mirror or server of a registry. */
export interface RegistryHost {
  /** Whether the path of the URL is used as it is; else containerd adds /v2. @default for a path below /v2 */
  overridePath?: boolean;
  /** Whether any certificate is accepted. @default false */
  skipVerify?: boolean;
  /** Absolute paths on each machine of files with certificates. @default the system's */
  ca?: string[];
  /** Headers of each request, none of them secret. */
  header?: Record<string, string>;
  /** @default pull and resolve */
  capabilities?: (typeof CAPABILITIES)[number][];
}

/** Settings of containerd for image registries; fields but the first are absent in state of older releases. */
export interface Registries {
  /** Registry host → mirror URLs, tried in order before the registry itself. */
  registryMirrors: Readonly<Record<string, readonly string[]>>;
  /** Registry host → URL that is asked last, instead of the registry itself. */
  registryServers?: Readonly<Record<string, string>>;
  /** How mirrors and servers are asked, by their URLs. */
  registryHosts?: Readonly<Record<string, RegistryHost>>;
}

/** The host that containerd asks for the images of docker.io. */
const DOCKER_HUB = "registry-1.docker.io";

/** Returns the host that containerd asks for the images of a registry. */
export const askedHost = (registry: string) =>
  /^(index\.)?docker\.io$/.test(registry) ? DOCKER_HUB : registry;

/** Returns the URL of a registry itself. */
export const defaultServer = (registry: string) => `https://${askedHost(registry)}`;

/** Returns the registries that have mirrors or a server of their own. */
export function mirroredRegistries({
  registryMirrors,
  registryServers,
}: Partial<Pick<Registries, "registryMirrors" | "registryServers">>): string[] {
  return [...new Set([...Object.keys(registryMirrors ?? {}), ...Object.keys(registryServers ?? {})])];
}

/** Returns the path of containerd's file for a registry. */
export const hostsFile = (registry: string) => `/etc/containerd/certs.d/${registry}/hosts.toml`;

/**
 * Returns how a mirror or server is asked, in the lines of a hosts.toml. containerd adds /v2 to a path that does not end with
 * it, which would be a second one for a path below it: that of a project which keeps copies of another registry, as Harbor
 * has them.
 */
function settingsOf(url: string, host: RegistryHost = {}): string[] {
  const isBelow = URL.canParse(url) && /^\/v2\/[^/]/.test(new URL(url).pathname);
  const { overridePath = isBelow, skipVerify = false, ca = [], header = {} } = host;
  const { capabilities = ["pull", "resolve"] } = host;
  const list = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(", ")}]`;
  return [
    `capabilities = ${list(capabilities)}`,
    ...(overridePath ? ["override_path = true"] : []),
    ...(skipVerify ? ["skip_verify = true"] : []),
    ...(ca.length > 0 ? [`ca = ${list(ca)}`] : []),
    // in one line, since a table of its own would end that of the host
    ...(Object.keys(header).length > 0
      ? [
          `header = { ${Object.entries(header)
            .map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
            .join(", ")} }`,
        ]
      : []),
  ];
}

/**
 * Returns containerd's hosts.toml for one registry: its mirrors in order, then its server. For `_default` without one there
 * is none, since containerd then takes the registry in the image's name.
 */
export function hostsToml(registry: string, registries: Registries): string {
  const { registryMirrors, registryServers = {}, registryHosts = {} } = registries;
  const server =
    ownValue(registryServers, registry) ?? (registry === "_default" ? undefined : defaultServer(registry));
  // containerd ignores a file without any host
  const mirrors = ownValue(registryMirrors, registry) ?? (server === undefined ? [] : [server]);
  const hostOfServer = server === undefined ? undefined : ownValue(registryHosts, server);
  return [
    ...(server === undefined ? [] : [`server = ${JSON.stringify(server)}`]),
    ...(server === undefined || hostOfServer === undefined ? [] : settingsOf(server, hostOfServer)),
    ...mirrors.flatMap((mirror) => [
      `\n[host.${JSON.stringify(mirror)}]`,
      ...settingsOf(mirror, ownValue(registryHosts, mirror)).map((line) => `  ${line}`),
    ]),
    "",
  ].join("\n");
}
