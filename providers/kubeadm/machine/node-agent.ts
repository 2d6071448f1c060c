import type { SoftwareSource } from "../plan/cluster/specification";
import { NODE_PATHS } from "../plan/cluster/node-paths";
import { AGENT_VERSION_PATTERN, ALL_SOFTWARE } from "../plan/rollout/annotations";
import {
  annotationKeys,
  CERTIFICATES,
  CONFIGURATION,
  DRIFT,
  KUBERNETES_SOFTWARE,
  OS_UPDATES,
} from "../plan/rollout/annotations";
import {
  endpointParameters,
  proxyVariables,
  settingsParameters,
  sourceFiles,
  sourceParameters,
} from "./parameters";
import { assignments, type Parameters, quote, renderShell, textsOf } from "./shell";
import { versionFor } from "../plan/configuration/configuration";
import { pathsToRemove } from "../plan/configuration/rolled-configuration";
import type { MachineSpecification, PoolMember } from "../plan/cluster/pools";
import type { StagedVersions } from "../plan/rollout/node-agents";

/**
 * Version of the node agent: its program, its unit and the installers that it calls. Raise it when their behavior
 * changes, since foresail reinstalls them on a machine only when it changes.
 */
export const AGENT_VERSION = "1.15.0";

/** Settings of one machine's agent, none of them secret. */
interface AgentSettings {
  node: string;
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  ignorePreflightErrors: readonly string[];
  /** Folders with kubeadm's patches, for the machine that kubeadm init ran on and for the others; empty for none. */
  patches?: { init?: string; join?: string };
  /** Paths of files that foresail writes for this cluster besides those that the agent knows itself. */
  managed?: readonly string[];
  /** Whether the agent puts back what others changed when its Node's annotations ask for it. */
  repairs?: boolean;
  /** Revision of the desired state that these settings were made from: `agentRevision`. */
  revision: string;
  /** First pause after a failure, in seconds; it doubles up to five minutes. */
  retrySeconds?: number;
}

/** Order in which the agent changes software: itself first, the kubelet after kubeadm has done its work. */
const ORDER = [
  "node-agent",
  DRIFT,
  "os-packages",
  OS_UPDATES,
  "containerd",
  "kubeadm",
  "kubelet",
  "kubectl",
  CONFIGURATION,
  CERTIFICATES,
].filter((name) => [DRIFT, OS_UPDATES, CERTIFICATES, ...ALL_SOFTWARE].includes(name));

/** Renders the agent's configuration as shell text, which the agent reads when it starts. */
export function agentConfiguration(settings: AgentSettings): string {
  const keys = annotationKeys(settings.annotations);
  const table = (name: string, keyOf: (software: string) => string) =>
    `declare -A ${name}=(${ORDER.map((software) => `[${software}]=${quote(keyOf(software))}`).join(" ")})`;
  const ignored = settings.ignorePreflightErrors.join(",");
  return [
    "# written by foresail",
    `node=${quote(settings.node)}`,
    `software=(${ORDER.join(" ")})`,
    `key_allowed=${quote(keys.changesAllowed)}`,
    `key_ready=${quote(keys.ready)}`,
    `key_message=${quote(keys.message)}`,
    `key_revision=${quote(keys.revision)}`,
    `revision=${quote(settings.revision)}`,
    table("key_desired", keys.desired),
    table("key_current", keys.current),
    `kubeadm_flags=(${ignored ? quote(`--ignore-preflight-errors=${ignored}`) : ""})`,
    `patches_of_init=${quote(settings.patches?.init ?? "")}`,
    `patches_of_join=${quote(settings.patches?.join ?? "")}`,
    `managed=(${(settings.managed ?? []).map(quote).join(" ")})`,
    `drift_mode=${settings.repairs ? "repair" : "report"}`,
    `retry_seconds=${settings.retrySeconds ?? 5}`,
    "",
  ].join("\n");
}

/** Returns the node agent as a program. @param root a folder that replaces / in tests */
export function agentProgram(root = ""): string {
  const parameters = { AGENT_VERSION, VERSION_PATTERN: AGENT_VERSION_PATTERN, ROOT: root };
  const text = renderShell(textsOf(["node-agent/program"]), parameters);
  return `#!/bin/bash\n# foresail: node agent ${AGENT_VERSION}\n${text}\n`;
}

/** Returns the path of the installer of one version; a version without one can't be requested. */
export function installerPath(software: string, version: string): string {
  return `${NODE_PATHS.agentInstallers}/${software}/${version}`;
}

/** Returns the text of every installer, after its header. */
export function installerText(source: SoftwareSource): string {
  return textsOf(["common/system", ...sourceFiles(source), "node-agent/installer"]);
}

/** Returns the functions of a configuration's installer alone. */
const configurationFunctions = () => `\n${textsOf(["node-agent/configuration"])}\n`;

/** Returns the functions of the installer of updates alone. */
const updateFunctions = () => `\n${textsOf(["node-agent/system-updates"])}\n`;

/**
 * Returns the installers that only root can run, the agent's own first: each is its header and installerText.
 *
 * @param addresses internal addresses of the cluster's machines, which are reached without a proxy
 */
export function installersOf(
  specification: MachineSpecification,
  staged: StagedVersions,
  member: PoolMember,
  addresses: readonly string[] = [],
) {
  const { configuration } = staged;
  const text = installerText(specification.source);
  const one = (software: string, version: string, parameters: Parameters = {}, functions = "") => {
    const variables = assignments(text + functions, {
      SOFTWARE: software,
      ...sourceParameters(specification, version),
      PROXY: proxyVariables(specification, addresses),
      ...parameters,
    });
    const header = `#!/bin/bash\n# foresail: ${software} ${version}, for the node agent\n${variables}\n${functions}`;
    return { software, version, path: installerPath(software, version), header };
  };
  // from a registry, containerd pulls images when they are needed
  const images = "bundle" in specification.source ? ["images"] : [];
  return [
    one("node-agent", AGENT_VERSION, { AGENT_PROGRAM: agentProgram().trimEnd() }),
    ...staged.kubernetes.flatMap((version) =>
      [...KUBERNETES_SOFTWARE, ...images].map((software) => one(software, version)),
    ),
    ...Object.entries(staged.software).map(([software, version]) =>
      software === OS_UPDATES ? one(software, version, {}, updateFunctions()) : one(software, version),
    ),
    ...(configuration
      ? [
          one(
            CONFIGURATION,
            versionFor(configuration.versions, member),
            {
              ...settingsParameters(specification, member.role),
              REMOVED_PATHS: pathsToRemove(configuration, specification, member.group),
              REMOVED_NAMES: configuration.removedNames ?? [],
              BASELINE: configuration.baseline ?? "",
              ...endpointParameters(specification, configuration.formerEndpoints),
            },
            configurationFunctions(),
          ),
        ]
      : []),
  ];
}
