import { quoted } from "../../../../lib/text/quote";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";

/** Files that `sysctl --system` and systemd load. */
const SETTINGS_FILE =
  /^\/(?:etc\/sysctl\.conf|(?:etc|run|usr\/lib|usr\/local\/lib)\/sysctl\.d\/[^/]*\.conf)$/;

/** Name of foresail's own file: files that come after it in the order of names win. */
const OWN_NAME = "90-foresail.conf";

/** Settings without which no pod reaches another machine; kubeadm refuses a machine without the first. */
const NEEDED = ["net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables"];

/** "net/ipv4/ip_forward" is another form of "net.ipv4.ip_forward". */
const keyOf = (text: string) => text.trim().replaceAll("/", ".");

function lineIssue(path: string, line: string): string | undefined {
  const text = line.trim();
  if (text === "" || /^[#;]/.test(text)) return undefined;
  const [, name, value] = /^-?\s*([^\s=]+)\s*=(.*)$/.exec(text) ?? [];
  // a dash and a key alone exclude it from the patterns of other files
  if (name === undefined || value === undefined)
    return /^-\s*[^\s=]+$/.test(text)
      ? undefined
      : `${quoted(text)} is not a setting of the kernel; write key = value`;
  const isLast = path === "/etc/sysctl.conf" || path.slice(path.lastIndexOf("/") + 1) > OWN_NAME;
  return isLast && NEEDED.includes(keyOf(name)) && value.trim() === "0"
    ? `${quoted(text)} takes the network from all pods; remove the line`
    : undefined;
}

/** Returns the issues of files with settings of the kernel that it does not take, or with which no node works (sysctl.d(5)). */
export const kernelFileIssues = (files: readonly { path: string; content: string }[]): ValidationIssue[] =>
  files.flatMap(({ path, content }, index) => {
    if (!SETTINGS_FILE.test(path)) return [];
    const [first] = content.split("\n").flatMap((line) => lineIssue(path, line) ?? []);
    return issueAt([index, "content"], first);
  });
