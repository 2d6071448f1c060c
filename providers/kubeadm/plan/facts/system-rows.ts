import { clockAdvice } from "../../../../lib/clock";
import { factOf, type FactRow, isContainer, linesOf, numberOf, ownWords } from "./machine-reading";

/** Certificates of kubeadm are valid from 5 minutes before they are made. */
export const MOST_CLOCK_MILLISECONDS = 300_000;
/** What kubeadm demands of a control plane. */
const LEAST_PROCESSORS = 2;
const LEAST_MEBIBYTES = 1700;
const LEAST_WORKER_MEBIBYTES = 700;
const CONTROLLERS = ["cpu", "cpuset", "memory", "pids"];
const MODULES = ["overlay", "br_netfilter"];
/** The first minor of Kubernetes whose kubelet refuses version 1 of cgroups. */
const MINOR_WITHOUT_V1 = 35;

const minorOf = (version: string) => Number(version.split(".")[1] ?? 0);

/** Rows about the system and its kernel. */
export const SYSTEM_ROWS: readonly FactRow[] = [
  ownWords({
    name: "operating system",
    read: "/etc/os-release",
    fact: "system",
    needs: "Debian 12 or 13, Ubuntu 22.04 or 24.04",
    fix: "use a machine with one of these systems",
  }),
  ownWords({
    name: "processor",
    read: "uname -m",
    fact: "processor",
    needs: "amd64 or arm64",
    fix: "use a machine with one of these processors",
  }),
  {
    name: "kernel version",
    read: "uname -r",
    level: "refused",
    needs: "4.19 or newer, as kubeadm demands",
    fix: "Install a newer kernel and reboot, or use another machine",
    find: (asked) => {
      const kernel = factOf(asked, "kernel") ?? "";
      const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
      if (major === undefined || ignores(asked, "SystemVerification")) return undefined;
      return Number(major) * 1000 + Number(minor) < 4019
        ? { fact: `its kernel is ${kernel}, and kubeadm demands 4.19 or newer` }
        : undefined;
    },
  },
  {
    name: "init system",
    read: "/run/systemd/system",
    level: "refused",
    needs: "systemd",
    fix: "Use a machine that systemd starts",
    find: (asked) => {
      const init = factOf(asked, "init");
      return init === undefined || init === "systemd"
        ? undefined
        : { fact: "systemd does not run on it, and it starts containerd and the kubelet" };
    },
  },
  {
    name: "version of cgroups",
    read: "the file system of /sys/fs/cgroup",
    level: "refused",
    needs: `version 2 from Kubernetes 1.${MINOR_WITHOUT_V1} on, unless kubelet.failCgroupV1 is false`,
    fix: "Run there: sed -i 's/systemd.unified_cgroup_hierarchy=0//' /etc/default/grub; update-grub; reboot",
    find: (asked) => {
      const { kubelet, version } = asked.specification;
      const kind = factOf(asked, "cgroup");
      if (kind === undefined || kind === "cgroup2fs" || kubelet["failCgroupV1"] === false) return undefined;
      return minorOf(version) >= MINOR_WITHOUT_V1
        ? { fact: `it has version 1 of cgroups, which the kubelet ${version} refuses` }
        : undefined;
    },
  },
  {
    name: "controllers of cgroups",
    read: "/sys/fs/cgroup/cgroup.controllers",
    level: "refused",
    needs: `${CONTROLLERS.join(", ")}, as kubeadm demands`,
    fix: "Add cgroup_enable={missing} to the kernel's command line and reboot",
    find: (asked) => {
      const has = factOf(asked, "controllers")?.split(/\s+/);
      if (has === undefined || ignores(asked, "SystemVerification")) return undefined;
      const missing = CONTROLLERS.filter((each) => !has.includes(each)).join(" ");
      return missing === ""
        ? undefined
        : { fact: `its cgroups have no controller ${missing}, which the kubelet needs`, values: { missing } };
    },
  },
  {
    name: "processors",
    read: "nproc",
    level: "refused",
    needs: `${LEAST_PROCESSORS} on a control plane, unless ignorePreflightErrors has NumCPU`,
    fix: "Give it more processors, or list NumCPU under cluster.ignorePreflightErrors",
    find: (asked) => {
      const processors = numberOf(asked, "processors");
      if (processors === undefined || isWorker(asked) || ignores(asked, "NumCPU")) return undefined;
      return processors < LEAST_PROCESSORS
        ? {
            fact: `it has ${processors} processor, and kubeadm demands ${LEAST_PROCESSORS} of a control plane`,
          }
        : undefined;
    },
  },
  {
    name: "memory",
    read: "/proc/meminfo",
    level: "refused",
    needs: `${LEAST_MEBIBYTES} MiB on a control plane, unless ignorePreflightErrors has Mem`,
    fix: "Give it more memory, or list Mem under cluster.ignorePreflightErrors",
    find: (asked) => {
      const memory = numberOf(asked, "memory");
      if (memory === undefined || isWorker(asked) || ignores(asked, "Mem")) return undefined;
      return memory < LEAST_MEBIBYTES
        ? {
            fact: `it has ${memory} MiB of memory, and kubeadm demands ${LEAST_MEBIBYTES} MiB of a control plane`,
          }
        : undefined;
    },
  },
  {
    name: "memory of a worker",
    read: "/proc/meminfo",
    level: "warning",
    needs: `${LEAST_WORKER_MEBIBYTES} MiB, so that something is left for pods`,
    fix: "Give it more memory",
    find: (asked) => {
      const memory = numberOf(asked, "memory");
      return memory !== undefined && isWorker(asked) && memory < LEAST_WORKER_MEBIBYTES
        ? { fact: `it has ${memory} MiB of memory, of which the node's own programs leave little to pods` }
        : undefined;
    },
  },
  {
    name: "swap that comes back",
    read: "/proc/swaps",
    level: "warning",
    needs:
      "no swap in compressed memory, which is there again after a reboot, unless kubelet.failSwapOn is false",
    fix: "Run there: apt-get remove zram-tools systemd-zram-generator",
    find: (asked) => {
      if (isContainer(asked) || asked.specification.kubelet["failSwapOn"] === false) return undefined;
      const device = linesOf(asked, "swap").find((line) => line.startsWith("/dev/zram"));
      return device === undefined
        ? undefined
        : {
            fact: `its swap ${device.split(" ")[0]} is set up again at each boot, and the kubelet does not start with it`,
          };
    },
  },
  {
    name: "clock",
    read: "date",
    level: "refused",
    needs: "the time here, to 5 minutes",
    fix: "Run on the wrong one: timedatectl set-ntp true",
    find: (asked) => {
      const clock = numberOf(asked, "clock");
      if (clock === undefined) return undefined;
      const [theirs, here] = [new Date(clock * 1000), new Date(asked.reading.at)];
      if (Math.abs(theirs.getTime() - here.getTime()) <= MOST_CLOCK_MILLISECONDS) return undefined;
      const words = clockAdvice(`the clock of ${asked.machine.name}`, theirs, here);
      return words === undefined ? undefined : { words };
    },
  },
  {
    name: "time synchronization",
    read: "timedatectl",
    level: "warning",
    needs: "a clock that is synchronized",
    fix: "Run there: apt-get install systemd-timesyncd; timedatectl set-ntp true",
    find: (asked) =>
      factOf(asked, "timeSync") === "no" && !isContainer(asked)
        ? { fact: "nothing synchronizes its clock, and certificates and etcd depend on it" }
        : undefined,
  },
  {
    name: "kernel modules",
    read: "/sys/module, modinfo",
    level: "refused",
    needs: MODULES.join(" and "),
    fix: "Run there: apt-get install linux-modules-extra-$(uname -r), or install a kernel with them",
    find: (asked) => {
      const missing = modulesWith(asked, "missing");
      return missing.length === 0
        ? undefined
        : { fact: `its kernel has no module ${missing.join(" and ")}, which every node loads` };
    },
  },
  {
    name: "loading of kernel modules",
    read: "/proc/sys/kernel/modules_disabled",
    level: "refused",
    needs: "allowed, until overlay and br_netfilter are loaded",
    fix: "Remove kernel.modules_disabled from /etc/sysctl.d and reboot",
    find: (asked) => {
      const due = modulesWith(asked, "available");
      return factOf(asked, "modulesDisabled") === "1" && due.length > 0
        ? {
            fact: `its kernel loads no modules any more, and ${due.join(" and ")} ${due.length > 1 ? "are" : "is"} not loaded`,
          }
        : undefined;
    },
  },
  {
    name: "connection tracking",
    read: "/sys/module, modinfo",
    level: "warning",
    needs: "nf_conntrack, for Services",
    fix: "Run there: apt-get install linux-modules-extra-$(uname -r)",
    find: (asked) =>
      linesOf(asked, "modules").includes("nf_conntrack missing")
        ? { fact: "its kernel has no module nf_conntrack, without which Services have no way to their pods" }
        : undefined,
  },
  {
    name: "most processes",
    read: "kernel.pid_max",
    level: "warning",
    needs: "32768 or more",
    fix: "Run there: sysctl kernel.pid_max=4194304, and write it to /etc/sysctl.d",
    find: (asked) => {
      const most = numberOf(asked, "limits");
      return most !== undefined && most < 32_768
        ? { fact: `its kernel allows ${most} processes, which the pods of a node can exceed` }
        : undefined;
    },
  },
  {
    name: "settings of others for forwarding",
    read: "/etc/sysctl.conf, sysctl.d",
    level: "warning",
    needs: "none that turns forwarding off after foresail's own",
    fix: "Remove that line",
    find: (asked) => {
      const [line] = linesOf(asked, "laterSettings");
      return line === undefined
        ? undefined
        : { fact: `${line.replace(":", " has the line ")}, which takes pods their network at the next boot` };
    },
  },
  {
    name: "AppArmor",
    read: "/sys/module/apparmor, apparmor_parser",
    level: "warning",
    needs: "its program apparmor_parser, where the kernel has it enabled",
    fix: "Run there: apt-get install apparmor",
    find: (asked) =>
      factOf(asked, "apparmor") === "no parser" && !isContainer(asked)
        ? {
            fact: "its kernel has AppArmor and there is no apparmor_parser, so that no profile confines containers",
          }
        : undefined,
  },
  {
    name: "SELinux",
    read: "/sys/fs/selinux/enforce",
    level: "warning",
    needs: "not enforcing",
    fix: "Run there: setenforce 0, and set SELINUX=permissive in /etc/selinux/config",
    find: (asked) =>
      factOf(asked, "selinux") === "1"
        ? {
            fact: "it enforces SELinux, with which foresail is not tested, and pods may be denied their files",
          }
        : undefined,
  },
  {
    name: "automatic reboots",
    read: "apt-config dump",
    level: "warning",
    needs: "none",
    fix: 'Set Unattended-Upgrade::Automatic-Reboot "false" in /etc/apt/apt.conf.d',
    find: (asked) =>
      factOf(asked, "automaticReboots") === undefined
        ? undefined
        : { fact: "its unattended upgrades reboot it on their own, without a drain" },
  },
];

const isWorker = ({ machine }: { machine: { role: string } }) => machine.role === "worker";

/** Tells whether the configuration ignores a check of kubeadm. */
const ignores = (asked: { specification: { ignorePreflightErrors: string[] } }, check: string): boolean =>
  asked.specification.ignorePreflightErrors.some((each) =>
    ["all", check.toLowerCase()].includes(each.toLowerCase()),
  );

const modulesWith = (asked: Parameters<FactRow["find"]>[0], state: string): string[] =>
  MODULES.filter((name) => linesOf(asked, "modules").includes(`${name} ${state}`));
