/** What a preview lists for the changes of `changes.ts`, said here a second time on purpose. */

const VERSION = String.raw`[0-9a-f]+(?:\.[0-9a-f]+)+`;

/** Lines of a change of configuration on these machines; with `back`, those of the return, where that is what nodes still have to do. */
export function configured(
  field: string,
  machines: readonly string[],
  { uploads = false, back }: { uploads?: boolean; back?: readonly RegExp[] } = {},
): RegExp[] {
  const change = (machine: string) =>
    new RegExp(
      `^${machine}: configuration ${VERSION} → ${VERSION} \\(.*restart the kubelet(?:, uncordon)?\\)$`,
    );
  return [
    new RegExp(
      `^configuration: cluster\\.${field.replaceAll(".", "\\.")}.*; each node gets it from its rollout$`,
    ),
    ...(uploads ? [/^cluster: write kubeadm-config and kubelet-config$/] : []),
    ...machines.map((machine) => new RegExp(`^${machine}: stage configuration ${VERSION}$`)),
    ...(back ?? machines.map(change)),
  ];
}

/** Lines of installers that get other settings, such as a proxy. */
export const restaged = (machines: readonly string[]): RegExp[] =>
  machines.map((machine) => new RegExp(`^${machine}: restage [0-9.]+$`));

/** The line of the node that goes back to what it has, since an earlier run asked it for something else. */
export const backTo = (machines: readonly string[], software: string): RegExp =>
  new RegExp(
    `^(?:${machines.join("|")}): back to ${software} \\S* ?\\(an earlier run asked for \\S+\\) \\(.*complete what had begun on it, uncordon\\)$`,
  );

/** Lines of another version of software that is not part of Kubernetes. */
export const software = (name: string, version: string, machines: readonly string[]): RegExp[] => [
  ...machines.map((machine) => new RegExp(`^${machine}: stage ${name} ${version}$`)),
  ...machines.map(
    (machine) =>
      new RegExp(
        `^${machine} \\S+, ${name} .*${version} \\(cordon, drain, the node agent changes it, uncordon\\)$`,
      ),
  ),
];

/** Lines of another version of Kubernetes. */
export const upgraded = (version: string, machines: readonly string[]): RegExp[] => [
  ...machines.map((machine) => new RegExp(`^${machine}: stage ${version}$`)),
  ...machines.map(
    (machine) =>
      new RegExp(`^${machine} \\S+ → ${version} \\(cordon, drain, kubeadm upgrade \\w+, uncordon\\)$`),
  ),
];

export const KUBE_PROXY: readonly RegExp[] = [
  /^configuration: cluster\.kubeProxy\..*; each node gets it from its rollout$/,
  /^cluster: write the configuration of kube-proxy, and restart it on each node in turn$/,
];

/** Lines of the rotation of the encryption key on the only control plane. */
export const rotated = (machine: string, key: string): RegExp[] => [
  new RegExp(`^${machine}: add the encryption key ${key}, restart its API server$`),
  new RegExp(`^${machine}: encrypt Secrets with ${key}, restart its API server$`),
  new RegExp(`^cluster: write every Secret again, encrypted with ${key}$`),
  new RegExp(`^${machine}: remove the encryption keys before ${key}, restart its API server$`),
];

export const joined = (machine: string): RegExp[] => [
  new RegExp(`^${machine}: join as worker of workers, wait until Ready$`),
  /^cluster DNS: move its pods apart/,
  new RegExp(`^${machine}: install node agent `),
  new RegExp(`^${machine}: stage `),
];

/** Prints when a unit wrote a line with these words first, in seconds of the epoch. */
export const inJournal = (unit: string, words: string) => (since: number) =>
  `journalctl --unit ${unit} --since @${since} --output short-unix --no-pager --quiet --grep '${words}' | head -n 1 | cut -d ' ' -f 1`;

/** Prints when a pod of kubeadm's wrote a line with these words first. */
export const inPodLog = (program: string, words: string) => (since: number) =>
  `cat /var/log/pods/kube-system_${program}-*/${program}/*.log 2>/dev/null | grep -F '${words}' | cut -d ' ' -f 1 |
    while read -r at; do date --date "$at" +%s.%N; done | awk '$1 >= ${since}' | sort -n | head -n 1`;
