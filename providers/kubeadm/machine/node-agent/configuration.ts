import { ALL_SOFTWARE, annotationKeys } from "../../plan/rollout/annotations";
import { quote } from "../steps/script";

/** Settings of one machine's agent, none of them secret. */
interface AgentSettings {
  node: string;
  /** Pattern of the annotation keys, which contains `[software]`. */
  annotations: string;
  ignorePreflightErrors: readonly string[];
  /** Revision of the desired state that these settings were made from: `agentRevision`. */
  revision: string;
  /** First pause after a failure, in seconds; it doubles up to five minutes. */
  retrySeconds?: number;
}

/** Order in which the agent changes software: itself first, the kubelet after kubeadm has done its work. */
const ORDER = ["node-agent", "os-packages", "containerd", "kubeadm", "kubelet", "kubectl"].filter((name) =>
  ALL_SOFTWARE.includes(name),
);

/** Renders the agent's configuration as shell text, which the agent reads when it starts. */
export function agentConfiguration(settings: AgentSettings): string {
  const keys = annotationKeys(settings.annotations);
  const table = (name: string, keyOf: (software: string) => string) =>
    `declare -A ${name}=(${ORDER.map((software) => `[${software}]=${quote(keyOf(software))}`).join(" ")})`;
  const flags =
    settings.ignorePreflightErrors.length > 0
      ? quote(`--ignore-preflight-errors=${settings.ignorePreflightErrors.join(",")}`)
      : "";
  return [
    "# written by foresail",
    `node=${quote(settings.node)}`,
    `software=(${ORDER.join(" ")})`,
    `key_allowed=${quote(keys.changesAllowed)}`,
    `key_ready=${quote(keys.ready)}`,
    `key_message=${quote(keys.message)}`,
    `key_revision=${quote(keys.revision)}`,
    `revision=${quote(settings.revision)}`,
    table("key_desired", (software) => keys.desired(software)),
    table("key_current", (software) => keys.current(software)),
    `kubeadm_flags=(${flags})`,
    `retry_seconds=${settings.retrySeconds ?? 5}`,
    "",
  ].join("\n");
}
