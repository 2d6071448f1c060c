import { quoted } from "../text/quote";

/**
 * Returns the issue of an http(s) URL, or undefined. The message does not repeat a value with a password.
 *
 * @param schemes accepted schemes, without the colon
 * @param whereTo what to do with a user and password in the URL
 */
export function urlIssue(
  text: string,
  schemes: readonly string[] = ["https", "http"],
  whereTo = "remove them",
): string | undefined {
  const example = `write e.g. "${schemes[0] ?? "https"}://host.example.com/path"`;
  if (!URL.canParse(text) || !text.includes("://") || NEVER_IN_A_URL.test(text))
    return `${quoteUnlessSecret(text)} is not a URL; ${example}`;
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1)))
    return `${quoteUnlessSecret(text)} is not an ${schemes.join(" or ")} URL; ${example}`;
  if (url.username !== "" || url.password !== "") return `${CREDENTIALS}; ${whereTo}`;
  if (url.hostname === "") return `${quoted(text)} has no host; ${example}`;
  return undefined;
}

/** Returns whether a URL is plain http to a host other than this one, so that others may read what is sent. */
export function isPlainHttpToOtherHost(url: string): boolean {
  if (!URL.canParse(url)) return false;
  // URL writes every notation of an IPv4 address in the dotted one.
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Returns the issue of a URL to which credentials are sent, or undefined.
 * @param field name of the field that allows plain http to other hosts
 */
export function plainHttpIssue(url: string, field: string, isAllowed = false): string | undefined {
  if (isAllowed || !isPlainHttpToOtherHost(url)) return undefined;
  return (
    `${quoted(url)} is plain http to another host, which would show the credentials to the network; ` +
    `write an https address or one on localhost, or set \`${field}: true\` if you trust the network`
  );
}

/**
 * Returns the issue of an HTTP proxy's address (scheme, host and port), or undefined. Excludes quotes, percent signs
 * and dollars, which systemd and apt interpret.
 */
export function proxyUrlIssue(text: string): string | undefined {
  const wrong = urlIssue(text, undefined, "write them to the secret foresail:proxyCredentials");
  if (wrong !== undefined) return wrong;
  return /^https?:\/\/[A-Za-z0-9._-]+(:\d{1,5})?(\/[A-Za-z0-9._~/-]*)?$/.test(text)
    ? undefined
    : `${quoteUnlessSecret(text)} is not the address of a proxy; write scheme, host and port, e.g. "http://proxy.example.com:3128"`;
}

/** Returns the issue of a host, domain or block that is reached without the proxy, or undefined. */
export function noProxyIssue(text: string): string | undefined {
  const host = /^\*$|^(\*?\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:\d{1,5}|\/\d{1,2})?$/;
  const ipv6 = /^\[?[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*\]?(\/\d{1,3})?$/;
  // The entries are joined with commas anyway, so an entry may be such a list.
  return text.split(",").every((one) => one.length <= 253 && (host.test(one) || ipv6.test(one)))
    ? undefined
    : `${quoteUnlessSecret(text)} is not a host, domain or block; write e.g. "git.example.com", ".example.com" or "10.0.0.0/8", one in each entry`;
}

const CREDENTIALS = "contains a user or password, which would be stored and shown in plain text";

/** Characters that are invalid in a URL (RFC 3986); braces are allowed for placeholders. */
const NEVER_IN_A_URL = /[\s"\\<>^`|\p{Cc}\p{Cs}]/u;

const quoteUnlessSecret = (text: string) => (text.includes("@") ? "the value" : quoted(text));
