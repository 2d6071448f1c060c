import { posix } from "node:path";
import { NODE_PATHS } from "../cluster/node-paths";
import { KUBELET_PATCH } from "../cluster/pools";
import { issueAt, type ValidationIssue, duplicateIssues } from "../../../../lib/validation/validation-issue";
import { unprintableIssue, userNameIssue } from "../../../../lib/validation/names";
import { hasPrivateKey, quoted } from "../../../../lib/text/quote";

const LONGEST_PATH = 4000;
/** Longest name of a file: new content is first written to a file with a longer name in the same folder. */
const LONGEST_NAME = 240;

/** Files and folders that foresail, kubeadm or the kernel write, after what to use instead. */
const OWNED: readonly (readonly [instead: string, ...paths: string[]])[] = [
  ["kubeadm makes the certificates there", "/etc/kubernetes/pki"],
  ["kubeadm writes the control plane there; use cluster.kubeadm", "/etc/kubernetes/manifests"],
  ["kubeadm keeps its backups there", NODE_PATHS.backups],
  [
    "kubeadm writes it",
    ...["admin", "super-admin", "kubelet", "bootstrap-kubelet", "controller-manager", "scheduler"].map(
      (name) => `/etc/kubernetes/${name}.conf`,
    ),
  ],
  [
    "foresail keeps the encryption key there; use cluster.encryptSecretsAtRest",
    posix.dirname(NODE_PATHS.encryption),
  ],
  ["the kubelet owns it; use cluster.kubelet", "/var/lib/kubelet"],
  ["etcd owns it", "/var/lib/etcd"],
  ["containerd owns it", "/var/lib/containerd"],
  ["foresail writes it; use cluster.registries", "/etc/containerd/config.toml", "/etc/containerd/certs.d"],
  [
    "foresail writes it; use cluster.proxy",
    "/etc/systemd/system/kubelet.service.d/foresail-proxy.conf",
    "/etc/systemd/system/containerd.service.d/foresail-proxy.conf",
    "/etc/apt/apt.conf.d/90foresail-proxy",
  ],
  [
    "foresail writes it; use cluster.source",
    "/etc/apt/keyrings/foresail-kubernetes.asc",
    "/etc/apt/sources.list.d/foresail-kubernetes.list",
  ],
  ["foresail writes it; use cluster.endpoint", "/etc/systemd/system/foresail-endpoint.service"],
  ["foresail writes it; use cluster.caBundle", "/usr/local/share/ca-certificates/foresail.crt"],
  [
    "foresail writes it",
    ...["/etc/foresail", "/var/lib/foresail", "/usr/local/lib/foresail", NODE_PATHS.logs],
    ...["/etc/systemd/system/kubelet.service", "/etc/systemd/system/foresail-bridge.service"],
    ...[NODE_PATHS.agentUnit, NODE_PATHS.ownAddressUnit, NODE_PATHS.lock, NODE_PATHS.scratch],
    ...["/etc/modules-load.d/foresail.conf", "/etc/sysctl.d/90-foresail.conf"],
  ],
  ["foresail writes it; use the kubelet of cluster.pools", `${NODE_PATHS.ownPatches}/${KUBELET_PATCH}`],
  ["the kernel's own file systems keep no files", "/proc", "/sys", "/dev"],
];

/** Folders of every Linux system that contain no owned file. */
const SYSTEM_FOLDERS = [
  ...["bin", "boot", "home", "lib", "media", "mnt", "opt", "root", "sbin", "srv", "tmp"],
  ...["usr/bin", "usr/lib", "usr/local/bin", "usr/local/sbin", "usr/sbin", "usr/share"],
  ...["var/cache", "var/tmp", "etc/cron.d", "etc/default", "etc/profile.d", "etc/ssh", "etc/ssl"],
  "etc/systemd/network",
].map((folder) => `/${folder}`);

/** Returns the parent folders of a path: "/", "/a" and "/a/b" for "/a/b/c". A path that is too long has its own issue. */
function ancestors(path: string): string[] {
  if (path.length > LONGEST_PATH) return [];
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  return slashes.map((folder) => folder || "/").filter((folder) => folder !== path);
}

const FOLDERS = new Set([...SYSTEM_FOLDERS, ...OWNED.flatMap(([, ...paths]) => paths.flatMap(ancestors))]);

/** Returns what is wrong with the absolute path of a file on a machine, or undefined. */
export function absolutePathIssue(path: string): string | undefined {
  if (!path.startsWith("/")) return `${quoted(path)} is not absolute; start it with "/"`;
  const unprintable = unprintableIssue(path);
  if (unprintable !== undefined) return unprintable;
  if (posix.normalize(path) !== path || path.endsWith("/"))
    return `${quoted(path)} is not a plain path; write it without "..", "//" and a "/" at the end`;
  if (path.length > LONGEST_PATH || path.split("/").some((name) => Buffer.byteLength(name) > LONGEST_NAME))
    return `${quoted(path)} is longer than a path may be; write at most ${LONGEST_PATH} characters, and ${LONGEST_NAME} bytes between two slashes`;
  return undefined;
}

/** Returns what is wrong with the path of an extra file, or undefined. */
export function hostFilePathIssue(path: string): string | undefined {
  if (FOLDERS.has(path) || (path.startsWith("/") && path.endsWith("/")))
    return `${quoted(path)} is a folder; write the path of a file in it, e.g. ${quoted(posix.join(path, "name.conf"))}`;
  const owned = OWNED.find(([, ...paths]) => paths.some((ref) => path === ref || path.startsWith(`${ref}/`)));
  return absolutePathIssue(path) ?? (owned && `${quoted(path)} may not be written: ${owned[0]}`);
}

/** Returns an issue for each file that is listed twice, or that is below another file instead of in a folder. */
export function hostFileListIssues(files: readonly { path: string }[]): ValidationIssue[] {
  const first = new Map(files.map(({ path }, index) => [path, index] as const).reverse());
  const below = files.flatMap(({ path }, index): ValidationIssue[] => {
    const file = ancestors(path).find((one) => first.has(one));
    const message = `${quoted(path)} is below files[${first.get(file ?? "")}], ${quoted(file)}, which is a file and not a folder; choose another path`;
    return issueAt([index, "path"], file && message);
  });
  return [...duplicateIssues(files, (file) => file.path, "path"), ...below];
}

const privateKeyRule = (who: string) => (text: string) =>
  hasPrivateKey(text)
    ? `contains a private key, which ${who}; bring it to the machine another way`
    : undefined;

/** Returns what is wrong with the content of an extra file, or undefined. */
export const hostFileContentIssue = privateKeyRule("would be stored and shown in plain text");

/** Returns what is wrong with the user data of a server, or undefined. */
export const userDataIssue = privateKeyRule(
  "every program on the server and everyone who reads the state could see",
);

const MODE_FIX = 'write it in octal and in quotes, e.g. "0600"';

/** Returns what is wrong with a file's permissions, or undefined. A fourth digit is for setuid, setgid and sticky. */
export function fileModeIssue(mode: string): string | undefined {
  return /^0?[0-7]{3,4}$/.test(mode) ? undefined : `${quoted(mode)} is not a file mode; ${MODE_FIX}`;
}

/** Returns the issue of a mode without quotes: YAML reads 0600 as octal, which is 384, but 600 as decimal. */
export function fileModeNumberIssue(mode: number): string {
  const octal = Number.isInteger(mode) && mode >= 0o100 && mode <= 0o777 ? `0${mode.toString(8)}` : undefined;
  if (octal !== undefined) return `${octal} was read as the number ${mode}; put it in quotes: "${octal}"`;
  return /^[0-7]{3,4}$/.test(String(mode))
    ? `${mode} was read as a number; put it in quotes: "0${mode}"`
    : `is the number ${mode}, not a file mode; ${MODE_FIX}`;
}

/** Accepts a name, or the number of a user or group; chown reads 4294967295 as "unchanged". */
const isOwner = (part: string) =>
  userNameIssue(part) === undefined || (/^\d{1,10}$/.test(part) && Number(part) < 2 ** 32 - 1);

/** Returns what is wrong with the owner of a file, or undefined. */
export function fileOwnerIssue(owner: string): string | undefined {
  const parts = owner.split(":");
  return parts.length <= 2 && parts.every(isOwner)
    ? undefined
    : `${quoted(owner)} is not an owner; write "user", "user:group" or "uid:gid"`;
}
