import { hostIssue, hostPortIssue } from "../../../../lib/validation/addresses";
import { quoted } from "../../../../lib/text/quote";

/** What is wrong with the host of an image registry ("docker.io", "registry.example.com:5000"), or undefined. */
export function registryHostIssue(host: string): string | undefined {
  if (host.includes("://"))
    return `${quoted(host)} is a URL; write the host alone, e.g. "registry.example.com"`;
  if (host.includes("/"))
    return `${quoted(host)} carries a path; write the host alone, e.g. "registry.example.com"`;
  return host.includes(":") ? hostPortIssue(host) : hostIssue(host);
}

/** What is wrong with the registry whose mirrors are listed, or undefined; `_default` is containerd's word for all others. */
export function mirroredRegistryIssue(host: string): string | undefined {
  return host === "_default" ? undefined : registryHostIssue(host);
}

/** What is wrong with the registry and path that images are pulled from ("registry.example.com/kubernetes"), or undefined. */
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
