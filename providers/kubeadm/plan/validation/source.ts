import { quoted } from "../../../../lib/text/quote";
import { keyFingerprintOf, VERSION_PLACEHOLDER } from "../cluster/specification";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { hostIssue, hostPortIssue } from "../../../../lib/validation/addresses";

/** Returns what is wrong with a SHA-256 in hexadecimal, or undefined. */
export function sha256Issue(text: string): string | undefined {
  return /^[0-9a-f]{64}$/.test(text)
    ? undefined
    : "is not a SHA-256; write its 64 lower-case hexadecimal digits";
}

/** Returns what is wrong with the fingerprint of an OpenPGP key, or undefined. */
export function keyFingerprintIssue(text: string): string | undefined {
  return /^[0-9A-Fa-f]{40}$/.test(text)
    ? undefined
    : `${quoted(text)} is not the fingerprint of a key; write its 40 hexadecimal digits without spaces, as \`gpg --show-keys Release.key\` prints them`;
}

/** Returns an issue when the key of an apt repository is not known. */
export function packagesIssues(packages: {
  repository?: string;
  keyFingerprint?: string;
}): ValidationIssue[] {
  if (keyFingerprintOf(packages) !== undefined) return [];
  return issueAt(
    ["keyFingerprint"],
    "is missing; write the fingerprint of the repository's key: `gpg --show-keys Release.key` prints it, and the repository's operator confirms it",
  );
}

/** Returns what is wrong with the placeholders of a bundle's path or URL, or undefined. */
export function bundlePathIssue(text: string): string | undefined {
  const unknown = text.match(/\{[^{}]*\}/g)?.find((found) => found !== VERSION_PLACEHOLDER);
  return (
    unknown &&
    `${quoted(unknown)} is not a placeholder here; ${VERSION_PLACEHOLDER} is the only one, and becomes MAJOR.MINOR.PATCH`
  );
}

/** Returns an issue unless a bundle is either a folder, or a URL with its checksum. */
export function bundleIssues(bundle: { path?: string; url?: string; sha256?: string }): ValidationIssue[] {
  const [path, url, sha256] = [bundle.path, bundle.url, bundle.sha256].map((value) => value !== undefined);
  if (!path && !url) return issueAt([], "names no bundle; write path, or url and sha256");
  if (path && url) return issueAt([], "path and url exclude each other; keep one");
  if (url && !sha256) return issueAt(["sha256"], "is missing; write the SHA-256 of the archive at url");
  if (url || !sha256) return [];
  return issueAt(["sha256"], "belongs to url; remove it, a folder has no checksum");
}

/** Returns what is wrong with the host of an image registry ("docker.io", "example.com:5000"), or undefined. */
export function registryHostIssue(host: string): string | undefined {
  if (host.includes("://"))
    return `${quoted(host)} is a URL; write the host alone, e.g. "registry.example.com"`;
  if (host.includes("/"))
    return `${quoted(host)} carries a path; write the host alone, e.g. "registry.example.com"`;
  // containerd looks for a host in the spelling that images have
  if (/[A-Z]/.test(host))
    return `${quoted(host)} has upper-case letters, which the host of an image never has; write ${quoted(host.toLowerCase())}`;
  return host.includes(":") ? hostPortIssue(host) : hostIssue(host);
}

/** Returns what is wrong with the host of mirrored registries, or undefined; `_default` means all others. */
export function mirroredRegistryIssue(host: string): string | undefined {
  if (host === "index.docker.io")
    return `is docker.io for containerd, which reads no file for ${quoted(host)}; write "docker.io"`;
  if (host === "hub.docker.com") return 'is a web site and not a registry; write "docker.io"';
  if (host === "*") return 'is not a host; write "_default" for all registries without an entry of their own';
  return host === "_default" ? undefined : registryHostIssue(host);
}

/** Returns what is wrong with the registry and path of images ("registry.example.com/kubernetes"), or undefined. */
export function imageRepositoryIssue(text: string): string | undefined {
  if (text.includes("://"))
    return `${quoted(text)} is a URL; write registry and path, e.g. "registry.example.com/kubernetes"`;
  const [host = "", ...path] = text.split("/");
  const isPath = path.every((part) => /^[a-z0-9]+([._-]+[a-z0-9]+)*$/.test(part));
  return registryHostIssue(host) === undefined && isPath
    ? undefined
    : `${quoted(text)} is not an image repository; write registry and path without a tag, e.g. "registry.example.com/kubernetes"`;
}
