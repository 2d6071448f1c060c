import { quote, writeFile } from "./script";
import { KUBERNETES_PROGRAMS, type KubernetesProgram } from "./kubernetes-programs";

/** Options that wait for dpkg's lock, which a new machine's own updates may keep for a while. */
const LOCK = "-o DPkg::Lock::Timeout=300";

/** Returns the address of the community's repository for a version, and the pattern of the version's packages. */
function packageRepository(repository: string, version: string) {
  const minor = version.split(".").slice(0, 2).join(".");
  const base = repository.replaceAll("{minor}", minor).replace(/\/?$/, "/");
  /** Matches the package versions of this version, with any revision. */
  const release = `${version.replaceAll(".", "\\.")}-`;
  return { base, release };
}

/** Returns shell lines that install Kubernetes from the community's apt repository, pinned and held. */
export function installFromPackages(
  repository: string,
  version: string,
  programs: readonly KubernetesProgram[],
): string {
  const { base, release } = packageRepository(repository, version);
  const list = `deb [signed-by=/etc/apt/keyrings/foresail-kubernetes.asc] ${base} /\n`;
  const names = programs.join(" ");
  // only this list: other broken lists must not block the installation, but errors of this list must be reported
  const onlyOurs =
    "-o Dir::Etc::sourcelist=sources.list.d/foresail-kubernetes.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any";
  return `
installed=$(dpkg-query --show --showformat='\${db:Status-Status} \${Version}\\n' ${names} 2>/dev/null | grep -cE ${quote(`^installed ${release}`)} || true)
if [ "$installed" != ${programs.length} ]; then
  (umask 022; mkdir -p /etc/apt/keyrings)
  curl --fail --silent --show-error --location --retry 3 --max-time 60 ${quote(`${base}Release.key`)} --output /etc/apt/keyrings/foresail-kubernetes.asc \\
    || fail ${quote(`the key of the Kubernetes repository could not be read from ${base}Release.key; check cluster.source.packages.repository, and that this machine reaches it`)} 66
  chmod 0644 /etc/apt/keyrings/foresail-kubernetes.asc
${writeFile("/etc/apt/sources.list.d/foresail-kubernetes.list", list, "0644")}
  apt-get update --quiet ${onlyOurs} \\
    || fail ${quote(`the Kubernetes repository ${base} could not be read, or its signature is not of the key in its Release.key; nothing was installed from it`)} 65
  for package in ${names}; do
    apt-cache madison "$package" | cut -d '|' -f 2 | grep -E ${quote(`^ *${release}`)} \\
      || fail ${quote(`the Kubernetes repository ${base} has no `)}"$package ${version}; it has: $(apt-cache madison "$package" | cut -d '|' -f 2 | tr -d ' ' | head -n 10 | xargs)" 65
  done
  dpkg --configure -a
  apt-mark unhold ${names} || true
  apt-get install --yes --quiet --no-install-recommends --allow-downgrades ${LOCK} ${programs.map((name) => quote(`${name}=${version}-*`)).join(" ")}
  apt-mark hold ${names}
fi`.trim();
}

/**
 * Returns shell lines that fail when the repository does not have the version, exit code 65 or 66. They install
 * nothing.
 */
export function checkPackages(repository: string, version: string): string {
  const { base, release } = packageRepository(repository, version);
  // separate lists, so that a mere check does not influence later installations
  return `
lists=$(mktemp -d); trap 'rm -rf "$lists"' EXIT; chmod 0755 "$lists"
(umask 022; curl --fail --silent --show-error --location --retry 3 --max-time 60 ${quote(`${base}Release.key`)} --output "$lists/key.asc") \\
  || fail ${quote(`the key of the Kubernetes repository could not be read from ${base}Release.key; check cluster.source.packages.repository, and that this machine reaches it`)} 66
echo "deb [signed-by=$lists/key.asc] "${quote(`${base} /`)} > "$lists/kubernetes.list"
only="-o Dir::Etc::sourcelist=$lists/kubernetes.list -o Dir::Etc::sourceparts=- -o Dir::State::Lists=$lists/state -o Dir::Cache=$lists/cache"
(umask 022; apt-get update --quiet $only -o APT::Update::Error-Mode=any) \\
  || fail ${quote(`the Kubernetes repository ${base} could not be read, or its signature is not of the key in its Release.key`)} 65
for package in ${KUBERNETES_PROGRAMS.join(" ")}; do
  apt-cache $only madison "$package" | cut -d '|' -f 2 | grep -qE ${quote(`^ *${release}`)} || fail ${quote(`the Kubernetes repository ${base} has no `)}"$package ${version}" 65
done`.trim();
}
