import { quoted } from "../../../../lib/text/quote";

/** Oldest minor: kubeadm's v1beta4 configuration was introduced in 1.31. */
const OLDEST_MINOR = 31;
/** Newest minor that foresail was tested with. */
export const NEWEST_MINOR = 36;

/** Returns what is wrong with a Kubernetes version, or undefined. */
export function kubernetesVersionIssue(text: string): string | undefined {
  const bare = text.replace(/^v/i, "");
  if (/^\d+\.\d+$/.test(bare))
    return `${quoted(text)} has no patch number; write all three, e.g. "${bare}.0"`;
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(bare);
  if (!match || match.slice(1).some((part) => /^0\d/.test(part))) {
    return `${quoted(text)} is not a version; write MAJOR.MINOR.PATCH, e.g. "1.${NEWEST_MINOR}.3"`;
  }
  if (bare !== text) return `${quoted(text)} must be written without the "v": "${bare}"`;
  const [major, minor] = match.slice(1).map(Number);
  if (major !== 1 || minor === undefined)
    return `Kubernetes ${text} does not exist; write e.g. "1.${NEWEST_MINOR}.3"`;
  if (minor < OLDEST_MINOR)
    return `Kubernetes ${text} is too old: its kubeadm does not read v1beta4 configuration; use 1.${OLDEST_MINOR} or newer`;
  if (minor > NEWEST_MINOR)
    return `Kubernetes ${text} is newer than this foresail knows (1.${NEWEST_MINOR}); use 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}, or a newer foresail`;
  return undefined;
}

/**
 * Returns what is wrong with the version of a pool's nodes, or undefined. Allows any minor, since another system
 * creates the nodes.
 */
export function poolVersionIssue(text: string): string | undefined {
  const bare = text.replace(/^v/, "");
  return /^\d{1,9}\.\d{1,9}\.\d{1,9}([-+][0-9A-Za-z.+-]+)?$/.test(bare)
    ? undefined
    : `${quoted(text)} is not a version; write MAJOR.MINOR.PATCH, e.g. "1.30.2"`;
}
