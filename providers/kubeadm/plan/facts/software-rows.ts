import { listed } from "../../../../lib/text/quote";
import { factOf, type FactRow, linesOf, ownWords } from "./machine-reading";

const KUBERNETES = ["kubeadm", "kubelet", "kubectl"];
/** Most names of one message. */
const MOST_NAMES = 8;
const some = (names: readonly string[]) => listed(names.slice(0, MOST_NAMES));

/** Rows about packages, and about what else runs there. */
export const SOFTWARE_ROWS: readonly FactRow[] = [
  ownWords({
    name: "files of another cluster",
    read: "/etc/kubernetes",
    fact: "foreign",
    needs: "none, and no mark of another stack in /etc/foresail/machine",
    fix: "if nothing of that cluster is needed: kubeadm reset --force; rm -rf /etc/kubernetes/*",
  }),
  ownWords({
    name: "pod network of others",
    read: "/etc/cni/net.d",
    fact: "networks",
    needs: "no files but those of the cluster's own network",
    fix: "mkdir -p /var/backups/cni; mv the files there",
  }),
  ownWords({
    name: "containerd of others",
    read: "dpkg-query",
    fact: "containerd",
    needs: "its programs, where another package provides containerd",
    fix: "apt-get install --reinstall that package",
  }),
  ownWords({
    name: "packages that would be removed",
    read: "apt-get --simulate",
    fact: "installation",
    needs: "none of others: an installation removes nothing, and brings nothing back to an older version",
    fix: "apt-get remove them, or apt-mark unhold",
  }),
  {
    name: "another distribution of Kubernetes",
    read: "systemctl",
    level: "refused",
    needs: "none that runs",
    fix: "Remove it, for example with k3s-uninstall.sh, rke2-uninstall.sh, k0s reset or snap remove microk8s; or use another machine",
    find: (asked) => {
      const units = linesOf(asked, "distributions");
      return units.length === 0
        ? undefined
        : {
            fact: `${listed(units)} ${units.length > 1 ? "run" : "runs"} on it: its pods, ports and network belong to another distribution of Kubernetes`,
          };
    },
  },
  {
    name: "another kubelet",
    read: "systemctl",
    level: "refused",
    needs: "none that runs",
    fix: "Run there: systemctl disable --now kubelet",
    find: (asked) =>
      factOf(asked, "kubelet") === "active"
        ? { fact: "a kubelet runs on it that foresail did not start" }
        : undefined,
  },
  {
    name: "other container runtimes",
    read: "/run/crio/crio.sock, /run/cri-dockerd.sock",
    level: "warning",
    needs: "containerd alone, for pods",
    fix: "Stop it if nothing needs it: systemctl disable --now {unit}",
    find: (asked) => {
      const [socket] = linesOf(asked, "runtimes");
      if (socket === undefined) return undefined;
      const unit = socket.includes("crio") ? "crio" : "cri-docker";
      return {
        fact: `another container runtime listens at ${socket}; pods will use containerd`,
        values: { unit },
      };
    },
  },
  {
    name: "packages on hold",
    read: "apt-mark showhold",
    level: "warning",
    needs: "none that a node's software needs",
    fix: "Run there: apt-mark unhold {packages}, if the preparation says that it can't install them",
    find: (asked) => {
      const missing = linesOf(asked, "packages").map((line) => line.split(" ")[0] ?? "");
      const held = linesOf(asked, "holds").filter((name) => missing.includes(name));
      return held.length === 0
        ? undefined
        : {
            fact: `${listed(held)} ${held.length > 1 ? "are" : "is"} on hold and not installed`,
            values: { packages: held.join(" ") },
          };
    },
  },
  {
    name: "packages that are installed halfway",
    read: "dpkg --audit",
    level: "warning",
    needs: "none",
    fix: "Run there: dpkg --configure -a",
    find: (asked) => {
      const names = linesOf(asked, "halfInstalled");
      return names.length === 0
        ? undefined
        : {
            fact: `${some(names)} ${names.length > 1 ? "are" : "is"} installed halfway; the preparation finishes that first`,
          };
    },
  },
  {
    name: "locks of packages",
    read: "/proc/locks",
    level: "warning",
    needs: "none that lasts longer than 300 s",
    fix: "Wait until it has ended, or run there: kill {process}",
    find: (asked) => {
      const [first] = linesOf(asked, "packageLocks");
      const [, process, name] = /^(\d+) ?(.*)$/.exec(first ?? "") ?? [];
      return process === undefined
        ? undefined
        : {
            fact: `the process ${process} (${name}) has the packages' lock, for which the preparation waits at most 300 s`,
            values: { process },
          };
    },
  },
  {
    name: "cloud-init",
    read: "cloud-init status",
    level: "warning",
    needs: "that it has ended without an error",
    fix: "Look there at: cloud-init status --long",
    find: (asked) => {
      const state = factOf(asked, "cloudInit");
      if (state === "running")
        return { fact: "cloud-init still runs on it; the preparation waits for it, at most 300 s" };
      return state === "error" ? { fact: "cloud-init ended with an error on it" } : undefined;
    },
  },
  {
    name: "packages of the distribution",
    read: "apt-cache policy",
    level: "warning",
    needs: "a version of each package that is missing, once its lists are read",
    fix: "Add the distribution's own repositories to /etc/apt/sources.list.d, then run there: apt-get update",
    find: (asked) => {
      const lines = linesOf(asked, "packages");
      const without = lines
        .filter((line) => !line.includes(" ") || line.endsWith(" "))
        .map((line) => line.trim());
      // a machine whose lists were never read has no version of anything
      if (without.length === 0 || without.length === lines.length) return undefined;
      return { fact: `no repository of it has ${some(without)}, which a node needs` };
    },
  },
  {
    name: "version of Kubernetes",
    read: "the Packages file of the repository",
    level: "refused",
    needs: "kubeadm, kubelet and kubectl of cluster.version",
    fix: "Write one of these as cluster.version, or add {version} to the repository",
    find: (asked) => {
      const { version } = asked.specification;
      const lines = linesOf(asked, "repositoryVersions");
      if (lines.length === 0) return undefined;
      const missing = KUBERNETES.filter(
        (name) => !lines.some((line) => line.startsWith(`${name} ${version}-`)),
      );
      if (missing.length === 0) return undefined;
      const has = [...new Set(lines.map((line) => (line.split(" ")[1] ?? "").replace(/-.*/, "")))];
      return {
        fact: `its Kubernetes repository has no ${missing.join(", ")} ${version}; it has ${some(has.reverse())}`,
        values: { version },
      };
    },
  },
  {
    name: "bundle",
    read: "test -e",
    level: "refused",
    needs: "cluster.source.bundle.path, where that is configured",
    fix: "Copy the bundle of {version} there before the run",
    find: (asked) => {
      if (factOf(asked, "bundle") !== "missing") return undefined;
      const { source, version } = asked.specification;
      const path = "bundle" in source && "path" in source.bundle ? source.bundle.path : "";
      return {
        fact: `there is no ${path.replaceAll("{version}", version)} on it, from which its software is installed`,
        values: { version },
      };
    },
  },
];
