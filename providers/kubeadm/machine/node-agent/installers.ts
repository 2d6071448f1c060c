import { exportProxy } from "../steps/container-runtime";
import type { ClusterSpecification } from "../../plan/specification";
import { quote, writeFile } from "../steps/script";
import { checkKubernetes, importBundleImages, installKubernetes } from "../steps/software";
import { KUBERNETES_SOFTWARE } from "../../plan/rollout/annotations";
import { AGENT_PATHS, installerPath } from "./paths";
import { agentProgram } from "./program";
import type { StagedVersions } from "./staged-versions";
import { AGENT_UNIT } from "./unit";
import { AGENT_VERSION } from "./version";

/** Installer of one version of one software for the node agent: a program that only root can run. */
interface Installer {
  software: string;
  version: string;
  path: string;
  text: string;
}

/** Options that wait for dpkg's lock, which a new machine's own updates may keep for a while. */
const APT = "-o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold";

interface Work {
  /** Shell lines that fail when the source does not have the version. */
  check: string;
  /** Shell lines that install the version, unless it is installed. */
  install: string;
}

/**
 * Returns an installer: `check` fails if the source does not have the version, `install` installs it unless it is
 * installed; both may run twice.
 */
function installer(
  specification: ClusterSpecification,
  software: string,
  version: string,
  { check, install }: Work,
): Installer {
  const text = [
    "#!/bin/bash",
    `# foresail: ${software} ${version}, for the node agent`,
    "set -euo pipefail",
    "umask 077",
    "export LC_ALL=C DEBIAN_FRONTEND=noninteractive",
    `fail() { printf '%s\\n' "$1"; exit "\${2:-1}"; }`,
    ...exportProxy(specification),
    'case "${1:-}" in',
    "check)",
    check,
    ";;",
    "install)",
    install,
    ";;",
    '*) fail "usage: $0 check|install" 64 ;;',
    "esac",
    "",
  ].join("\n");
  return { software, version, path: installerPath(software, version), text };
}

/**
 * Installs exactly this version of the distribution's containerd package, and holds it so that no upgrade changes it.
 */
function containerd(version: string): Work {
  const has = `apt-cache madison containerd | cut -d '|' -f 2 | tr -d ' ' | grep -qxF ${quote(version)}`;
  return {
    check: `${has} || fail ${quote(`no apt repository of this machine has containerd ${version}`)} 65`,
    install: `
if [ "$(dpkg-query --show --showformat='\${Version}' containerd 2>/dev/null || true)" != ${quote(version)} ]; then
  dpkg --configure -a
  apt-get update --quiet
  ${has} || fail ${quote(`no apt repository of this machine has containerd `)}${quote(`${version}; it has: `)}"$(apt-cache madison containerd | cut -d '|' -f 2 | xargs)" 65
  apt-mark unhold containerd || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades ${APT} ${quote(`containerd=${version}`)}
fi
apt-mark hold containerd
systemctl restart containerd
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done' || fail "containerd did not answer within 60 seconds; look at: journalctl -u containerd"`.trim(),
  };
}

/**
 * Upgrades all packages of the distribution to their repositories' current versions. The version is the date of the
 * desired state.
 */
function osPackages(version: string): Work {
  return {
    check: ":",
    install: `
dpkg --configure -a
apt-get update --quiet
apt-get upgrade --yes --quiet --with-new-pkgs ${APT}
printf '%s' ${quote(version)} > ${AGENT_PATHS.folder}/os-packages`.trim(),
  };
}

/** Installs the agent itself; its caller restarts the agent. */
function nodeAgent(): Work {
  return {
    check: ":",
    install: [
      writeFile(AGENT_PATHS.program, agentProgram(), "0755"),
      writeFile(AGENT_PATHS.unit, AGENT_UNIT, "0644"),
      "systemctl daemon-reload",
    ].join("\n"),
  };
}

/** Returns the installers of everything that is staged on a machine, the agent's own first. */
export function installersOf(specification: ClusterSpecification, staged: StagedVersions): Installer[] {
  const { source } = specification;
  const one = (software: string, version: string, work: Work) =>
    installer(specification, software, version, work);
  const kubernetes = staged.kubernetes.flatMap((version) => {
    const programs = KUBERNETES_SOFTWARE.map((program) =>
      one(program, version, {
        check: checkKubernetes(source, version, [program]),
        install: installKubernetes(source, version, [program]),
      }),
    );
    // from a registry, containerd pulls images when they are needed
    if (!("bundle" in source)) return programs;
    // the bundle's own kubeadm lists the images
    const check = checkKubernetes(source, version, ["kubeadm"]);
    return [
      ...programs,
      one("images", version, {
        check,
        install: `${check}\n${importBundleImages(specification, version, "bundle")}`,
      }),
    ];
  });
  const others = Object.entries(staged.software).map(([software, version]) =>
    one(software, version, software === "containerd" ? containerd(version) : osPackages(version)),
  );
  return [one("node-agent", AGENT_VERSION, nodeAgent()), ...kubernetes, ...others];
}
