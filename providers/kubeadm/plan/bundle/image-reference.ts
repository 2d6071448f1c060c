import { quoted } from "../../../../lib/text/quote";

/** An image in a registry. */
export interface ImageReference {
  /** As images are named: "docker.io", "registry.example.com:5000". */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or a digest ("sha256:…"). */
  readonly version: string;
  /** The complete name, by which the kubelet asks for it. */
  readonly name: string;
}

const REPOSITORY = /^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads the name of an image as container runtimes do: "nginx:1.29" is docker.io/library/nginx:1.29, and a digest goes before
 * a tag.
 *
 * @returns what is wrong with it, for a name that is none or that names no version
 */
export function readImageReference(text: string): ImageReference | string {
  const [path = "", digest] = text.split("@", 2);
  const colon = path.lastIndexOf(":");
  const tag = colon > path.lastIndexOf("/") ? path.slice(colon + 1) : undefined;
  const named = tag === undefined ? path : path.slice(0, colon);
  const [first = "", ...others] = named.split("/");
  const hasHost = others.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const registry = !hasHost || first === "index.docker.io" ? "docker.io" : first;
  const rest = hasHost ? others.join("/") : named;
  const repository = registry === "docker.io" && !rest.includes("/") ? `library/${rest}` : rest;
  if (!REPOSITORY.test(repository) || (tag !== undefined && !TAG.test(tag)))
    return `${quoted(text)} is not the name of an image; write e.g. "registry.example.com/team/app:1.2"`;
  if (digest !== undefined && !DIGEST.test(digest))
    return `${quoted(text)} has a digest that is not "sha256:" and 64 hexadecimal digits`;
  const version = digest ?? tag;
  if (version === undefined)
    return `${quoted(text)} has neither a tag nor a digest; add one, e.g. "${named}:1.2"`;
  const separator = digest === undefined ? ":" : "@";
  return { registry, repository, version, name: `${registry}/${repository}${separator}${version}` };
}
