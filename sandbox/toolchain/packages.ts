import { readFile } from "node:fs/promises";
import type { Origin, Reporter } from "../progress";
import { findOnPath } from "./installed";
import { runCommand } from "./run-command";

/** The Debian package and the program that shows it is installed, by the names that callers use. */
const PACKAGES = {
  podman: { package: "podman", program: "podman" },
  runc: { package: "runc", program: "runc" },
  mmdebstrap: { package: "mmdebstrap", program: "mmdebstrap" },
  iptables: { package: "iptables", program: "iptables" },
  iproute2: { package: "iproute2", program: "ip" },
  conmon: { package: "conmon", program: "conmon" },
  // podman needs these two for its networks
  "aardvark-dns": { package: "aardvark-dns", program: "/usr/lib/podman/aardvark-dns" },
  netavark: { package: "netavark", program: "/usr/lib/podman/netavark" },
  "ssh-client": { package: "openssh-client", program: "ssh-keygen" },
  // for tests: a package repository is signed
  gpg: { package: "gpg", program: "gpg" },
  "gpg-agent": { package: "gpg-agent", program: "gpg-agent" },
  // for tests: state in a database
  postgresql: { package: "postgresql", program: "pg_createcluster" },
  // for tests: the page of a fleet
  chromium: { package: "chromium", program: "chromium" },
  "ca-certificates": { package: "ca-certificates", program: "/etc/ssl/certs/ca-certificates.crt" },
} as const;

/** A system package that the sandbox's nodes can need. */
type SystemPackage = keyof typeof PACKAGES;

const APT = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2"];

/** Returns whether the text of /etc/os-release is from Debian, Ubuntu or a derivative. */
export function isDebian(osRelease: string): boolean {
  const words = [...osRelease.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gm)].flatMap(([, ids = ""]) =>
    ids.split(" "),
  );
  return words.includes("debian") || words.includes("ubuntu");
}

/** Returns the instructions for installing packages manually. */
export function packageAdvice(packages: readonly string[], debian: boolean): string {
  const list = packages.join(" ");
  return debian
    ? `these packages are missing: ${list}; install them: sudo apt-get install --no-install-recommends ${list}`
    : `these programs are missing: ${list}; install them with this system's package manager (the names are Debian's)`;
}

async function isThere(program: string): Promise<boolean> {
  if (program.startsWith("/")) {
    return readFile(program).then(
      () => true,
      () => false,
    );
  }
  // a user's PATH often lacks the sbin folders
  const PATH = `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;
  return (await findOnPath(program, { PATH })) !== undefined;
}

async function aptInstall(packages: readonly string[], update: (detail: string) => void): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };
  const install = ["install", "-y", "--no-install-recommends", ...APT, ...packages];
  try {
    await runCommand("apt-get", install, { env, minutes: 15 });
  } catch {
    // most often the package lists are missing or old
    update("apt-get update");
    await runCommand("apt-get", ["update", ...APT], { env, minutes: 5 });
    update("apt-get install");
    await runCommand("apt-get", install, { env, minutes: 15 });
  }
}

/**
 * Ensures that system packages are installed: as root on Debian or Ubuntu it reports and runs apt-get.
 * @throws Error with the packages and the command, on other systems or when apt-get fails
 */
export async function ensurePackages(names: readonly SystemPackage[], report: Reporter): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    const known = PACKAGES[name];
    if (!(await isThere(known.program))) missing.push(known.package);
  }
  if (missing.length === 0) return;
  const debian = isDebian(await readFile("/etc/os-release", "utf8").catch(() => ""));
  if (!debian || process.getuid?.() !== 0) throw new Error(packageAdvice(missing, debian));
  await report.step(`System packages: apt-get install ${missing.join(" ")}`, async (update) => {
    try {
      await aptInstall(missing, update);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${packageAdvice(missing, true)}\n${why}`, { cause: error });
    }
    return { from: "downloaded" as Origin };
  });
}
