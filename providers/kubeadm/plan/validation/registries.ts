import { hostIssue, hostPortIssue } from "../../../../lib/validation/addresses";
import { quoted } from "../../../../lib/text/quote";

/**
 * Returns what is wrong with the host of an image registry ("docker.io", "registry.example.com:5000"), or undefined.
 */
export function registryHostIssue(host: string): string | undefined {
  if (host.includes("://"))
    return `${quoted(host)} is a URL; write the host alone, e.g. "registry.example.com"`;
  if (host.includes("/"))
    return `${quoted(host)} carries a path; write the host alone, e.g. "registry.example.com"`;
  return host.includes(":") ? hostPortIssue(host) : hostIssue(host);
}

/**
 * Returns what is wrong with the host of mirrored registries, or undefined; containerd uses `_default` for all others.
 */
export function mirroredRegistryIssue(host: string): string | undefined {
  return host === "_default" ? undefined : registryHostIssue(host);
}

/** Returns what is wrong with the registry and path of images ("registry.example.com/kubernetes"), or undefined. */
export function imageRepositoryIssue(text: string): string | undefined {
  if (text.includes("://"))
    return `${quoted(text)} is a URL; write registry and path, e.g. "registry.example.com/kubernetes"`;
  const [host = "", ...path] = text.split("/");
  const wrongPath = path.some((part) => !/^[a-z0-9]+([._-]+[a-z0-9]+)*$/.test(part));
  if (registryHostIssue(host) !== undefined || wrongPath) {
    return `${quoted(text)} is not an image repository; write registry and path without a tag, e.g. "registry.example.com/kubernetes"`;
  }
  return undefined;
}
