import { agentConfiguration } from "../node-agent/configuration";
import { installersOf } from "../node-agent/installers";
import { AGENT_PATHS, AGENT_SERVICE, installerPath } from "../node-agent/paths";
import type { StagedVersions } from "../node-agent/staged-versions";
import { AGENT_VERSION } from "../node-agent/version";
import { agentRevision } from "../node-agent/desired-agent";
import { NODE_PATHS } from "../../plan/node-paths";
import type { ClusterSpecification } from "../../plan/specification";
import { refuseForeignMachine } from "./ownership";
import { frame, quote, writeFile, type Script } from "./script";

/** Returns shell lines that remove every other installer than these, so that it can't be requested any more. */
function withdrawOthers(paths: string[]): string {
  return `
while read -r path; do
  case "$path" in
  ${paths.map(quote).join("|")}) ;;
  *) rm -f "$path" ;;
  esac
done < <(find ${AGENT_PATHS.installers} -type f)`.trim();
}

/**
 * Returns shell lines for a Kubernetes version that this machine does not have: they check the source and import
 * images.
 */
function makeReady(version: string, source: ClusterSpecification["source"]): string {
  const images = `bash ${installerPath("images", version)} install`;
  return `
if [ "$(kubelet --version 2>/dev/null || true)" != ${quote(`Kubernetes v${version}`)} ]; then
  ${AGENT_PATHS.program} --dry-run ${version} || fail ${quote(`Kubernetes ${version} can't be staged; the lines before this one say why`)} 65${"bundle" in source ? `\n  ${images}` : ""}
fi`.trim();
}

/**
 * Returns the step that installs the node agent and stages the versions that it can choose from. Refuses a version that
 * the source does not have. Imports a bundle's images at once: the first upgraded control plane gives every node a new
 * kube-proxy, which is in no registry. Its answer is empty.
 *
 * @param annotations pattern of the annotation keys
 */
export function nodeAgentScript(
  specification: ClusterSpecification,
  machine: string,
  annotations: string,
  staged: StagedVersions,
): Script {
  const installers = installersOf(specification, staged);
  const { ignorePreflightErrors, name, source } = specification;
  return frame(
    "node-agent",
    machine,
    [
      refuseForeignMachine(name, machine),
      `[ -e ${NODE_PATHS.member} ] || fail ${quote(`${machine}: is no member of the cluster, so there is no Node to obey`)}`,
      `mkdir -p ${AGENT_PATHS.installers}`,
      ...installers.map(({ path, text }) => writeFile(path, text, "0700")),
      withdrawOthers(installers.map(({ path }) => path)),
      writeFile(
        AGENT_PATHS.configuration,
        agentConfiguration({
          node: machine,
          annotations,
          ignorePreflightErrors,
          revision: agentRevision({ agent: AGENT_VERSION, annotations, staged, specification }),
        }),
      ),
      `bash ${installerPath("node-agent", AGENT_VERSION)} install`,
      ...staged.kubernetes.map((version) => makeReady(version, source)),
      `systemctl enable --quiet ${AGENT_SERVICE}`,
      // a working agent would hold the machine's lock, so the restart interrupts nothing
      `systemctl restart ${AGENT_SERVICE}`,
    ].join("\n"),
  );
}
