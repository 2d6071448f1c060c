import { NEWEST_VERSION } from "../cluster/kubernetes-minors";
import { isNewer, newestMinor } from "./known-fields";
import { quoted } from "../../../../lib/text/quote";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";

/** Oldest minor: kubeadm's v1beta4 configuration was introduced in 1.31. */
const OLDEST_MINOR = 31;

/** Returns what is wrong with a Kubernetes version, or undefined. */
export function kubernetesVersionIssue(text: string): string | undefined {
  const bare = text.replace(/^v/i, "");
  if (/^\d+\.\d+$/.test(bare))
    return `${quoted(text)} has no patch number; write all three, e.g. "${bare}.0"`;
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(bare);
  if (!match || match.slice(1).some((part) => /^0\d/.test(part)))
    return `${quoted(text)} is not a version; write MAJOR.MINOR.PATCH, e.g. "${NEWEST_VERSION}"`;
  if (bare !== text) return `${quoted(text)} must be written without the "v": "${bare}"`;
  const [major, minor] = match.slice(1).map(Number);
  if (major !== 1 || minor === undefined)
    return `Kubernetes ${text} does not exist; write e.g. "${NEWEST_VERSION}"`;
  if (minor < OLDEST_MINOR)
    return `Kubernetes ${text} is too old: its kubeadm does not read v1beta4 configuration; use 1.${OLDEST_MINOR} or newer`;
  return undefined;
}

/** Says that a version has a newer minor than foresail knows, or returns undefined. */
export function newerThanKnown(version: string): string | undefined {
  return isNewer(version)
    ? `Kubernetes ${version} is newer than this foresail knows (1.${newestMinor()})`
    : undefined;
}

/** Returns a warning about a version that foresail does not know, or nothing. Paths are relative to the cluster. */
export function versionWarnings(version: string): ValidationIssue[] {
  const newer = newerThanKnown(version);
  return newer === undefined
    ? []
    : issueAt(
        ["version"],
        `${newer}: it was not tested, and its fields, arguments and feature gates are checked as those of 1.${newestMinor()}`,
      );
}

/** Returns what is wrong with the version of a pool's nodes. Any minor: another system creates the nodes. */
export function poolVersionIssue(text: string): string | undefined {
  const bare = text.replace(/^v/, "");
  return /^\d{1,9}\.\d{1,9}\.\d{1,9}([-+][0-9A-Za-z.+-]+)?$/.test(bare)
    ? undefined
    : `${quoted(text)} is not a version; write MAJOR.MINOR.PATCH, e.g. "1.30.2"`;
}
