/** Supported operating systems; any other is refused before it is changed. */
const SUPPORTED_SYSTEMS: Record<string, string> = {
  "debian 12": "Debian 12",
  "ubuntu 22.04": "Ubuntu 22.04",
  "ubuntu 24.04": "Ubuntu 24.04",
};

const SUPPORTED_ARCHITECTURES = ["x86_64", "aarch64"];

/** Returns shell lines that refuse an operating system or processor that foresail does not support, exit code 78. */
export function refuseUnsupportedSystem(machine: string): string {
  const systems = Object.keys(SUPPORTED_SYSTEMS)
    .map((system) => `"${system}"`)
    .join("|");
  const names = Object.values(SUPPORTED_SYSTEMS).join(", ");
  return `
system=$(. /etc/os-release; echo "$ID $VERSION_ID")
case "$system" in
  ${systems}) ;;
  *) fail "${machine}: runs $system; foresail supports ${names}" 78 ;;
esac
case "$(uname -m)" in
  ${SUPPORTED_ARCHITECTURES.join("|")}) ;;
  *) fail "${machine}: has a $(uname -m) processor; foresail supports amd64 and arm64" 78 ;;
esac
in_container=no
if systemd-detect-virt --container --quiet; then in_container=yes; fi`.trim();
}
