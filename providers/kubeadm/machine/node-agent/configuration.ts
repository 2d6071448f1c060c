import { ALL_SOFTWARE, annotationKeys } from "../../plan/rollout/annotations";
import { quote } from "../steps/script";

/** What one machine's agent is told; nothing of it is secret. */
interface AgentSettings {
  node: string;
  /** Annotation keys, with `[software]` in it. */
  annotations: string;
  ignorePreflightErrors: readonly string[];
  /** Of the wish that all of it was made from: `agentRevision`. */
  revision: string;
  /** First pause after a failure, in seconds; it doubles up to five minutes. */
  retrySeconds?: number;
}

/** In the order in which the agent changes them: itself first, the kubelet after kubeadm has done its work. */
const ORDER = ["node-agent", "os-packages", "containerd", "kubeadm", "kubelet", "kubectl"].filter((name) =>
  ALL_SOFTWARE.includes(name),
);

/** The agent's configuration, as the shell text that it reads when it starts. */
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
