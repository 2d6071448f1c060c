import { createHash } from "node:crypto";
import { readYamlOf } from "../../../../lib/yaml";
import { changesEtcdSettings, type SettingFacts } from "../../plan/adoption/adopted-configuration";
import type { KubeadmObjects, MemberFacts } from "../../plan/adoption/adoption-facts";
import type { Machine, Role } from "../../plan/cluster/machine";
import { type ClusterSpecification, filesOf } from "../../plan/cluster/specification";
import { etcdPart } from "../../plan/configuration/configuration";
import { assertNames } from "../../plan/validation/settings";
import { documents, KUBEADM } from "../configuration/configuration";
import { hostsFile, hostsToml, mirroredRegistries } from "../../plan/configuration/registries";
import { type Parameters, renderStep, commandsOf } from "../shell";
import { type Operation, stepFile } from "../operations";
import { plainStep, type Script, step } from "../steps";
import {
  clusterWide,
  type MachineSpecification,
  patchFolders,
  specificationOf,
} from "../../plan/cluster/pools";

/** Returns a step that only reads: without the frame of the others, which writes a log and folders on the machine. */
export const reading =
  (operation: Operation, files: readonly string[] = []) =>
  (_cluster: string, machine: string, parameters: Parameters = {}) => {
    assertNames({ machine });
    const commands = commandsOf([...files, stepFile(operation)]);
    return {
      operation,
      machine,
      text: renderStep(`${operation} ${machine}`, commands, parameters),
    } satisfies Script;
  };

/** Reads what identifies a member of a cluster that foresail did not make, for parseMemberFacts. Writes nothing. */
export const adoptionFactsScript = reading("adoption-facts");

/** Reads the administrator's kubeconfig of a control plane. Answers its text, which is secret. Writes nothing. */
export const adoptionAccessScript = reading("adoption-access");

/** Returns the fingerprint of a certificate authority, as adopt.sh computes it. @param text PEM */
export const authorityFingerprint = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Parses lines "name base64". */
export const namedFacts = (answer: string): Map<string, string> =>
  new Map(
    answer
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([name = "", value = ""]) => [name, Buffer.from(value, "base64").toString("utf8")]),
  );

/** Parses the answer of adoptionFactsScript. */
export function parseMemberFacts(answer: string): MemberFacts {
  const facts = namedFacts(answer);
  const of = (name: string) => (facts.get(name) ?? "").trim();
  const authority = facts.get("authority") ?? "";
  return {
    marker: of("marker"),
    authority: authority === "" ? "" : authorityFingerprint(authority),
    machineId: of("machineId"),
    addresses: of("addresses").split(/\s+/),
    system: of("system"),
    kubelet: of("kubelet"),
    controlPlane: of("controlPlane") === "yes",
    ...(of("apiServerPort") ? { apiServerPort: of("apiServerPort") } : {}),
    ...(of("authorityFile") ? { authorityFile: of("authorityFile") } : {}),
    ...(of("externalAuthority") === "yes" ? { externalAuthority: true as const } : {}),
  };
}

/**
 * Claims a member of a cluster that foresail did not make. Its answer is empty.
 *
 * @param authority fingerprint of the cluster's certificate authority; a machine with another one is refused
 */
export const adoptScript = (cluster: string, machine: string, authority: string): Script =>
  step("adopt", cluster, machine, { AUTHORITY: authority });

/** Removes the node agent and foresail's marks, and leaves Kubernetes as it is. Its answer is empty. */
export const releaseScript = plainStep("release");

const readSettings = reading("adoption-settings");

/** Returns the files that a machine gets from a stack, as they are written: the user's, and those of mirrors. */
function writtenFiles(specification: MachineSpecification, role: Role): Map<string, string> {
  const files = filesOf(specification, role);
  const text = (content: string) => `${content.replace(/\n$/, "")}\n`;
  const hosts = mirroredRegistries(specification).map(
    (registry) => [hostsFile(registry), text(hostsToml(registry, specification))] as const,
  );
  return new Map([...files.map(({ path, content }) => [path, text(content)] as const), ...hosts]);
}

/**
 * Reads what a changed configuration would write over on a member of an adopted cluster, for parseSettingFacts. Data:
 * settingsData on a control plane. Changes nothing.
 *
 * @param olds whose files the machine may have, too
 * @param baseline version of control planes that foresail has not configured; undefined until the first change
 */
export function adoptionSettingsScript(
  olds: ClusterSpecification,
  news: ClusterSpecification,
  machine: Pick<Machine, "name" | "role" | "group">,
  baseline = "",
): Script {
  const { name, role } = machine;
  const filesOfMachine = (of: ClusterSpecification) => writtenFiles(specificationOf(of, machine), role);
  const [before, after] = [filesOfMachine(olds), filesOfMachine(news)];
  const sum = (text: string) => createHash("sha256").update(text).digest("hex");
  const sums = [...after].map(([path, text]) =>
    [...new Set([text, before.get(path) ?? text])].map((each) => sum(each)).join(","),
  );
  // those of the cluster: static pods have nothing of a pool
  const PATCHES = patchFolders(clusterWide(news)).join ?? "";
  const ETCD = role === "control-plane" && changesEtcdSettings(olds, news);
  const ETCD_BASELINE = etcdPart(baseline);
  return readSettings(news.name, name, {
    FILE_PATHS: [...after.keys()],
    FILE_SUMS: sums,
    PATCHES,
    ETCD,
    ETCD_BASELINE,
    CURRENT,
  });
}

/** The line between the two configurations of settingsData. */
const CURRENT = "# foresail: the configuration that the cluster has now";

/**
 * Returns the kubeadm configurations with which a control plane renders its static pods, at its own address: that from
 * before foresail's first change, and that which the cluster has now.
 */
export function settingsData(original: KubeadmObjects, current: KubeadmObjects): string {
  const localAPIEndpoint = { advertiseAddress: "" };
  const [before, now] = [original, current].map(({ clusterConfiguration }) =>
    documents([{ apiVersion: KUBEADM, kind: "InitConfiguration", localAPIEndpoint }, clusterConfiguration]),
  );
  return `${before}\n${CURRENT}\n${now}`;
}

/** Parses the answer of adoptionSettingsScript. */
export function parseSettingFacts(answer: string): SettingFacts {
  const facts = namedFacts(answer);
  const lines = (name: string) => (facts.get(name) ?? "").split("\n").filter((line) => line !== "");
  return {
    configured: facts.get("configured") === "yes",
    kubeletPath: (facts.get("kubeletPath") ?? "").trim(),
    kubelet: readYamlOf("the kubelet's configuration", facts.get("kubelet") ?? ""),
    manifests: lines("manifests"),
    etcd: lines("etcd"),
    readsMirrors: lines("readsMirrors").length > 0,
    proxies: lines("proxies"),
    files: lines("files"),
  };
}
