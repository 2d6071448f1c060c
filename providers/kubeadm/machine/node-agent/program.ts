import { NODE_PATHS } from "../../plan/node-paths";
import { AGENT_PATHS } from "./paths";
import { CHANGE } from "./program-change";
import { NODE_ACCESS } from "./program-node";
import { ROUND } from "./program-round";
import { VERSIONS } from "./program-versions";
import { AGENT_VERSION } from "./version";

/**
 * Returns the node agent: one bash program that follows the annotations of its own Node, with the kubelet's
 * credentials. It writes ready=false before its first change and ready=true after its last, and everything between can
 * be repeated. So after a kill at any point, the next start finds ready=false and repeats the same steps.
 *
 * @param root a folder that replaces / in tests
 */
export function agentProgram(root = ""): string {
  return `#!/bin/bash
# foresail: node agent ${AGENT_VERSION}. Brings this machine to the versions that its Node's annotations ask for, out of what
# foresail staged here and of nothing else.
#   --once               looks once, does what is to be done, and ends
#   --dry-run [VERSION]  says what it would do, now or for that version of Kubernetes, and changes nothing
set -u -o pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
version=${AGENT_VERSION}
program=${root}${AGENT_PATHS.program}
folder=${root}${AGENT_PATHS.folder}
# else kubectl keeps what it knows of the API in the home of whoever runs it, or in no home at all
export KUBECACHEDIR=$folder/kubectl-cache
installers=${root}${AGENT_PATHS.installers}
# holds the version of each software whose installer has begun and not come to its end
installing=${root}${AGENT_PATHS.folder}/installing
initialized=${root}${AGENT_PATHS.initialized}
machine_lock=${root}${NODE_PATHS.lock}
agent_lock=${root}/run/foresail-node-agent.lock
kubernetes=${root}/etc/kubernetes
reboot_required=${root}/run/reboot-required
kubelet_configuration=${root}/var/lib/kubelet/config.yaml
kubelet_flags=${root}/var/lib/kubelet/kubeadm-flags.env
sysctl_file=${root}/etc/sysctl.d/90-foresail.conf
words=${root}/run/foresail-node-agent.words
. ${root}${AGENT_PATHS.configuration}
mode=serve
${NODE_ACCESS}
${VERSIONS}
${CHANGE}
${ROUND}
main "$@"; exit
`;
}
