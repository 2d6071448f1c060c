import { VERSION_PLACEHOLDER } from "../specification";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";

/** Returns what is wrong with a SHA-256 in hexadecimal, or undefined. */
export function sha256Issue(text: string): string | undefined {
  return /^[0-9a-f]{64}$/.test(text)
    ? undefined
    : "is not a SHA-256; write its 64 lower-case hexadecimal digits";
}

/** Returns what is wrong with the placeholders of a bundle's path or URL, or undefined. */
export function bundlePathIssue(text: string): string | undefined {
  const unknown = [...text.matchAll(/\{[^{}]*\}/g)]
    .map(([found]) => found)
    .find((found) => found !== VERSION_PLACEHOLDER);
  return unknown === undefined
    ? undefined
    : `${quoted(unknown)} is no placeholder here; ${VERSION_PLACEHOLDER} is the only one, and becomes MAJOR.MINOR.PATCH`;
}

/** Returns an issue unless a bundle is either a folder, or a URL with its checksum. */
export function bundleIssues(bundle: { path?: string; url?: string; sha256?: string }): ValidationIssue[] {
  if (bundle.path === undefined && bundle.url === undefined) {
    return [{ path: [], message: "names no bundle; write path, or url and sha256" }];
  }
  if (bundle.path !== undefined && bundle.url !== undefined) {
    return [{ path: [], message: "path and url exclude each other; keep one" }];
  }
  if (bundle.url !== undefined && bundle.sha256 === undefined) {
    return [{ path: ["sha256"], message: "is missing; write the SHA-256 of the archive at url" }];
  }
  if (bundle.url === undefined && bundle.sha256 !== undefined) {
    return [{ path: ["sha256"], message: "belongs to url; remove it, a folder has no checksum" }];
  }
  return [];
}
