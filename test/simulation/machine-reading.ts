import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { MachineState } from "./fleet-files";
import type { ReceivedScript } from "./received-script";

/** Returns the machine's time in seconds since 1970, if a test says how it differs. */
export const clockOf = ({ clockOffset }: MachineState) =>
  clockOffset === undefined ? undefined : Math.round(Date.now() / 1000) + clockOffset;

/** What a simulated preparation changes, as a machine tells it. */
const CHANGES = [
  "package containerd",
  ...["kubeadm", "kubelet", "kubectl"].map((name) => `program ${name}`),
  "setting net.ipv4.ip_forward = 1",
  "file /etc/sysctl.d/90-foresail.conf",
];
const IMAGES = ["etcd:3.6.8-0", "coredns/coredns:v1.14.2", "pause:3.10.2"];

/** Returns the values of a list in a script. */
const listIn = (text: string, name: string): string[] => {
  const [, values = ""] = new RegExp(`^${name}=\\((.*?)\\)$`, "ms").exec(text) ?? [];
  return [...values.matchAll(/'([^']*)'/g)].map(([, value = ""]) => value);
};

/** Returns the sums of the user's files in a script that prepares a machine, by path. */
export function writtenFiles({ text }: ReceivedScript): Record<string, string> {
  const contents = listIn(text, "FILE_CONTENTS").map((content) =>
    createHash("sha256")
      .update(`${content.replace(/\n$/, "")}\n`)
      .digest("hex"),
  );
  return Object.fromEntries(listIn(text, "FILE_PATHS").map((path, at) => [path, contents[at] ?? ""]));
}

/** Tells whether a machine is as this script prepares it. */
export const isPreparedAs = ({ prepared, files }: MachineState, script: ReceivedScript): boolean =>
  prepared && isDeepStrictEqual(files ?? {}, writtenFiles(script));

function preparationOf({ prepared, files = {} }: MachineState, text: string): Record<string, string> {
  const images = IMAGES.map((image) => `registry.k8s.io/${image}`).join("\n");
  const sums = listIn(text, "FILE_SUMS");
  const own = listIn(text, "FILE_PATHS").flatMap((path, at) => {
    if (files[path] === undefined) return [`file ${path}`];
    return files[path] === sums[at] ? [] : [`replaced ${path}`];
  });
  if (prepared) return { prepared: "yes", images, due: ["begin", ...own].join("\n") };
  const due = ["begin", ...CHANGES, ...own].join("\n");
  return { due, images, packages: "containerd 2.2.1-1", packageLists: "current" };
}

/** Returns what a machine says before it becomes a node, by the name of the fact. */
export function readingOf(state: MachineState, { machine, text }: ReceivedScript): Record<string, string> {
  const clock = clockOf(state);
  const foreign = `${machine}: /etc/kubernetes contains files that foresail did not create`;
  return {
    ...(state.foreign && !state.marker ? { "refusal.foreign": foreign } : {}),
    ...(clock === undefined ? {} : { clock: String(clock) }),
    ...(state.member ? { member: "yes" } : { ...preparationOf(state, text), ...state.reading }),
  };
}
