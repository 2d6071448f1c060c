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

/** Shell lines that take away every installer that is not among these, so that nobody can ask for it any more. */
function withdrawOthers(paths: string[]): string {
  return `
while read -r path; do
  case "$path" in
  ${paths.map(quote).join("|")}) ;;
  *) rm -f "$path" ;;
  esac
done < <(find ${AGENT_PATHS.installers} -type f)`.trim();
}

/** Shell lines for one Kubernetes version that this machine has not got: does the source have it, and its images. */
function makeReady(version: string, source: ClusterSpecification["source"]): string {
  const images = `bash ${installerPath("images", version)} install`;
  return `
if [ "$(kubelet --version 2>/dev/null || true)" != ${quote(`Kubernetes v${version}`)} ]; then
  ${AGENT_PATHS.program} --dry-run ${version} || fail ${quote(`Kubernetes ${version} can't be staged; the lines before this one say why`)} 65${"bundle" in source ? `\n  ${images}` : ""}
fi`.trim();
}

/**
 * The step that installs the node agent and stages the versions that it may choose from. A version whose source
 * lacks it is refused. A bundle's images are imported at once: the first control plane that is upgraded gives
 * every node a new kube-proxy, and no registry has it. Answers nothing.
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
      // an agent at work would hold the machine's lock, so nothing is cut off here
      `systemctl restart ${AGENT_SERVICE}`,
    ].join("\n"),
  );
}
