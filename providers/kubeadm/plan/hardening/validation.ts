import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { certificateBundleIssue } from "../../../../lib/validation/keys";
import { lineIssue } from "../../../../lib/validation/names";
import { urlIssue } from "../../../../lib/validation/urls";
import {
  below,
  duplicateIssues,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import { AUTHENTICATION_ARGUMENT, AUTHENTICATION_FILE } from "./authentication";
import { networkOf } from "../cluster/defaults";
import type { TokenIssuer } from "../cluster/specification";
import { valueIssue } from "../validation/settings";

/** The API server accepts at most so many. */
const MOST_ISSUERS = 64;

/** Returns what is wrong with the URL of an issuer, or undefined. */
function issuerUrlIssue(text: string): string | undefined {
  const wrong = urlIssue(text, ["https"]);
  if (wrong !== undefined) return wrong;
  return /[?#]/.test(text)
    ? `${quoted(text)} has a query or fragment, which no issuer has; write it as tokens have it in "iss"`
    : undefined;
}

const textIssue = (text: string) => (text === "" ? "is empty; write a text" : lineIssue(text));

function issuerIssues({ issuer, claimMappings, claimValidationRules = [] }: TokenIssuer): ValidationIssue[] {
  const { audiences, certificateAuthority } = issuer;
  return [
    ...issueAt(["issuer", "url"], issuerUrlIssue(issuer.url)),
    ...issueAt(["issuer", "audiences"], audiences.length === 0 ? "is empty; write a client ID" : undefined),
    ...audiences.flatMap((text, index) => issueAt(["issuer", "audiences", index], textIssue(text))),
    ...below(
      ["issuer", "audiences"],
      duplicateIssues(audiences, (text) => text),
    ),
    ...valueIssue(["issuer", "certificateAuthority"], certificateAuthority, certificateBundleIssue),
    ...Object.entries(claimMappings).flatMap(([name, { claim, prefix }]) => [
      ...issueAt(["claimMappings", name, "claim"], textIssue(claim)),
      ...issueAt(["claimMappings", name, "prefix"], lineIssue(prefix)),
    ]),
    ...claimValidationRules.flatMap(({ claim, requiredValue }, index) => [
      ...issueAt(["claimValidationRules", index, "claim"], textIssue(claim)),
      ...issueAt(["claimValidationRules", index, "requiredValue"], lineIssue(requiredValue)),
    ]),
    ...below(
      ["claimValidationRules"],
      duplicateIssues(claimValidationRules, ({ claim }) => claim, "claim"),
    ),
  ];
}

/** Returns the issues of the issuers of tokens; paths are relative to the list. */
export function oidcIssues(oidc: readonly TokenIssuer[]): ValidationIssue[] {
  const many = `has ${oidc.length} issuers, and an API server accepts ${MOST_ISSUERS}; remove some`;
  const repeated = duplicateIssues(oidc, ({ issuer }) => issuer.url).map(({ path, message }) => ({
    path: [...path, "issuer", "url"],
    message,
  }));
  return [
    ...issueAt([], oidc.length > MOST_ISSUERS ? many : undefined),
    ...oidc.flatMap((one, index) => below([index], issuerIssues(one))),
    ...repeated,
  ];
}

/** Settings that authentication depends on; absent ones are not readable or not set. */
interface AuthenticationSettings {
  authentication?: { oidc?: readonly { issuer?: { url?: string } }[] };
  profile?: string;
  kubeadm?: { clusterConfiguration?: unknown };
  files?: readonly { path?: string }[];
  network?: { dnsDomain?: string };
}

const ARGUMENTS = ["kubeadm", "clusterConfiguration", "apiServer", "extraArgs"] as const;

/** Returns the arguments of the API server that the configuration has, by their indexes. */
function argumentsOf(settings: AuthenticationSettings): unknown[] {
  const found = valueAt(settings, ARGUMENTS);
  return Array.isArray(found) ? found.map((one: unknown) => (isObject(one) ? one.name : undefined)) : [];
}

/** Returns the issues of other settings that contradict the issuers of tokens; none without any. */
export function authenticationConflicts(settings: AuthenticationSettings): ValidationIssue[] {
  const { authentication, files = [], network } = settings;
  const oidc = authentication?.oidc ?? [];
  if (oidc.length === 0) return [];
  const own = `https://kubernetes.default.svc.${networkOf(network).dnsDomain}`;
  return [
    ...argumentsOf(settings).flatMap((name, index) => {
      if (typeof name !== "string" || (name !== AUTHENTICATION_ARGUMENT && !name.startsWith("oidc-")))
        return [];
      const message = `${quoted(name)} and authentication.oidc exclude each other: the API server takes one of them; move it to authentication.oidc, or remove authentication.oidc`;
      return issueAt([...ARGUMENTS, index, "name"], message);
    }),
    ...files.flatMap(({ path }, index) =>
      issueAt(
        ["files", index, "path"],
        path === AUTHENTICATION_FILE
          ? `${quoted(path)} is the file of authentication.oidc; choose another path`
          : undefined,
      ),
    ),
    ...oidc.flatMap(({ issuer }, index) =>
      issueAt(
        ["authentication", "oidc", index, "issuer", "url"],
        issuer?.url === own
          ? `${quoted(own)} is the issuer of the cluster's own service accounts`
          : undefined,
      ),
    ),
  ];
}
