import { lineIssue } from "../../../../lib/validation/names";
import { urlIssue } from "../../../../lib/validation/urls";
import { below, issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { listed, quoted } from "../../../../lib/text/quote";
import { defaultServer, mirroredRegistries, type RegistryHost } from "../configuration/registries";
import { absolutePathIssue } from "./files";
import { mirroredRegistryIssue } from "./source";

/** The image registries of a cluster as they are written; absent fields are not set. */
export interface RegistrySettings {
  mirrors?: Readonly<Record<string, readonly string[]>>;
  servers?: Readonly<Record<string, string>>;
  hosts?: Readonly<Record<string, RegistryHost>>;
}

/** Headers that contain a credential. */
const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|api-?key|secret/i;

/** Returns what is wrong with the name of a header, or undefined. */
function headerIssue(name: string): string | undefined {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
    return `${quoted(name)} is not the name of a header; write e.g. "X-Site"`;
  if (/^host$/i.test(name)) return `${quoted(name)} is taken from the URL; remove it`;
  return SECRET_HEADER.test(name)
    ? `${quoted(name)} is for a secret, which would be stored and shown in plain text; write user and password to the secret foresail:registryCredentials`
    : undefined;
}

/** Returns what is wrong with the URL of a mirror or server, or undefined. containerd reads its scheme, host and path. */
export function registryUrlIssue(url: string): string | undefined {
  const issue = urlIssue(url);
  if (issue !== undefined || !/[?#]/.test(url)) return issue;
  return `${quoted(url)} has a part after its path, which containerd leaves out; remove it`;
}

/** Returns the issues of how one mirror or server is asked. */
export function registryHostIssues({ ca = [], header = {}, capabilities }: RegistryHost): ValidationIssue[] {
  const isAsked = capabilities === undefined || capabilities.some((each) => each !== "push");
  return [
    ...issueAt(
      ["capabilities"],
      isAsked
        ? undefined
        : 'is without "pull" and "resolve", so that nothing is asked of it; add them, or remove it',
    ),
    ...ca.flatMap((path, index) => issueAt(["ca", index], absolutePathIssue(path))),
    ...Object.entries(header).flatMap(([name, value]) =>
      issueAt(["header", name], headerIssue(name) ?? lineIssue(value)),
    ),
  ];
}

/** Returns an issue for each authority of an address without certificates. */
export function plainHostIssues({ hosts = {} }: RegistrySettings): ValidationIssue[] {
  return Object.entries(hosts)
    .filter(([url]) => url.toLowerCase().startsWith("http://"))
    .flatMap(([url, { ca }]) =>
      issueAt(
        [url, "ca"],
        ca === undefined
          ? undefined
          : "is for https, and this address is http, which has no certificate; remove it, or write https",
      ),
    );
}

/** Returns an issue for each entry of `hosts` that no registry has as a mirror or server, so that it would have no effect. */
export function unusedHostIssues({
  mirrors = {},
  servers = {},
  hosts = {},
}: RegistrySettings): ValidationIssue[] {
  const registries = mirroredRegistries({ registryMirrors: mirrors, registryServers: servers });
  const asked = new Set([
    ...Object.values(mirrors).flat(),
    ...Object.values(servers),
    ...registries.map(defaultServer),
  ]);
  return Object.keys(hosts).flatMap((url) =>
    issueAt(
      [url],
      asked.has(url)
        ? undefined
        : `is not a URL of mirrors or servers${asked.size === 0 ? "" : `, which has ${listed([...asked])}`}; write it there, too, in the same spelling`,
    ),
  );
}

/** Returns the issues of everything about registries; paths are relative to it. */
export function registriesIssues(registries: RegistrySettings): ValidationIssue[] {
  const { mirrors = {}, servers = {}, hosts = {} } = registries;
  return [
    ...Object.entries(mirrors).flatMap(([host, urls]) => [
      ...issueAt(["mirrors", host], mirroredRegistryIssue(host)),
      ...urls.flatMap((url, index) => issueAt(["mirrors", host, index], registryUrlIssue(url))),
    ]),
    ...Object.entries(servers).flatMap(([host, url]) =>
      issueAt(["servers", host], mirroredRegistryIssue(host) ?? registryUrlIssue(url)),
    ),
    ...Object.entries(hosts).flatMap(([url, host]) => below(["hosts", url], registryHostIssues(host))),
    ...below(["hosts"], [...unusedHostIssues(registries), ...plainHostIssues(registries)]),
  ];
}
