import { type AskedMachine, type FactRow, linesOf, ownWords } from "./machine-reading";

/** One disk of a machine, by a path that is written there. */
interface Mount {
  readonly path: string;
  readonly mebibytes: number;
  /** NaN on file systems without a fixed number of them. */
  readonly inodes: number;
  readonly type: string;
  readonly options: readonly string[];
}

/** Space for the packages of a node: containerd, kubelet, kubeadm, kubectl and what they need. */
const PROGRAMS_MEBIBYTES = 500;
const LOGS_MEBIBYTES = 100;
const LEAST_INODES = 20_000;
const DATA = ["/var/lib/containerd", "/var/lib/kubelet"];
/** Programs run from here: the packages', foresail's own and the network plugins. */
const PROGRAMS = ["/usr", "/usr/local", "/opt"];
const REMOTE = /^(nfs4?|cifs|smb3|fuse\.sshfs|9p|ceph)$/;

function mountsOf(asked: AskedMachine): Mount[] {
  return linesOf(asked, "mounts").flatMap((line) => {
    const [path, free, inodes, type, options] = line.split(" ");
    if (path === undefined || type === undefined || options === undefined) return [];
    return [{ path, mebibytes: Number(free), inodes: Number(inodes), type, options: options.split(",") }];
  });
}

const isData = ({ path }: Mount) => DATA.includes(path);
const withOption = (asked: AskedMachine, paths: readonly string[], option: string) =>
  mountsOf(asked).find(({ path, options }) => paths.includes(path) && options.includes(option));

/** Rows about the disks. */
export const DISK_ROWS: readonly FactRow[] = [
  ownWords({
    name: "free space for images, pods and etcd",
    read: "df",
    fact: "disks",
    needs: "1024 MiB in /var/lib/containerd, /var/lib/kubelet and, on a control plane, etcd's folder",
    fix: "free space, or enlarge the disk",
  }),
  {
    name: "free space for programs",
    read: "df /usr",
    level: "warning",
    needs: `${PROGRAMS_MEBIBYTES} MiB`,
    fix: "Free space or enlarge the disk: df -h /usr; apt-get clean",
    find: (asked) => {
      const usr = mountsOf(asked).find(({ path }) => path === "/usr");
      return usr !== undefined && usr.mebibytes < PROGRAMS_MEBIBYTES
        ? {
            fact: `/usr has ${usr.mebibytes} MiB of free space, and the packages of a node need ${PROGRAMS_MEBIBYTES} MiB`,
          }
        : undefined;
    },
  },
  {
    name: "room for the logs of steps",
    read: "df /var/log",
    level: "refused",
    needs: "1 MiB",
    fix: "Free space on that disk: df -h /var/log; journalctl --vacuum-size=100M",
    find: (asked) =>
      mountsOf(asked).some(({ path, mebibytes }) => path === "/var/log" && mebibytes < 1)
        ? { fact: "no step could write its log in /var/log: No space left on device" }
        : undefined,
  },
  {
    name: "free space for logs",
    read: "df /var/log",
    level: "warning",
    needs: `${LOGS_MEBIBYTES} MiB`,
    fix: "Free space or enlarge the disk: df -h /var/log; journalctl --vacuum-size=100M",
    find: (asked) => {
      const logs = mountsOf(asked).find(({ path }) => path === "/var/log");
      return logs !== undefined && logs.mebibytes >= 1 && logs.mebibytes < LOGS_MEBIBYTES
        ? {
            fact: `/var/log has ${logs.mebibytes} MiB of free space, and each step and each container writes its log there`,
          }
        : undefined;
    },
  },
  {
    name: "free inodes",
    read: "df",
    level: "refused",
    needs: `${LEAST_INODES} for images`,
    fix: "Remove small files there (find {path} -xdev | cut -d / -f 2-5 | sort | uniq -c | sort -n), or make a larger file system",
    find: (asked) => {
      const full = mountsOf(asked).find(
        (each) => isData(each) && each.inodes > 0 && each.inodes < LEAST_INODES,
      );
      return full === undefined
        ? undefined
        : {
            fact: `${full.path} has ${full.inodes} free inodes, and images need ${LEAST_INODES}`,
            values: { path: full.path },
          };
    },
  },
  {
    name: "file systems that can be written",
    read: "findmnt",
    level: "refused",
    needs: "/etc, /usr, /usr/local, /opt, /var/lib/foresail, /var/log and /run",
    fix: "Run there: mount -o remount,rw {path}; if the disk is damaged, dmesg shows it",
    find: (asked) => {
      const paths = ["/etc", ...PROGRAMS, "/var/lib/foresail", "/var/log", "/run"];
      const found = withOption(asked, paths, "ro");
      return found && { fact: `the file system of ${found.path} is read-only`, values: { path: found.path } };
    },
  },
  {
    name: "folders of data that can be written",
    read: "findmnt",
    level: "refused",
    needs: DATA.join(" and "),
    fix: "Run there: mount -o remount,rw {path}",
    find: (asked) => {
      const found = withOption(asked, DATA, "ro");
      return found && { fact: `the file system of ${found.path} is read-only`, values: { path: found.path } };
    },
  },
  {
    name: "programs of containers",
    read: "findmnt",
    level: "refused",
    needs: "/var/lib/containerd without noexec",
    fix: "Run there: mount -o remount,exec {path}, and change /etc/fstab",
    find: (asked) => {
      const found = withOption(asked, DATA.slice(0, 1), "noexec");
      return (
        found && {
          fact: `the file system of ${found.path} has noexec, so that no container could start`,
          values: { path: found.path },
        }
      );
    },
  },
  {
    name: "programs of a node",
    read: "findmnt",
    level: "refused",
    needs: `${PROGRAMS.join(", ")} without noexec`,
    fix: "Run there: mount -o remount,exec {path}, and change /etc/fstab",
    find: (asked) => {
      const found = withOption(asked, PROGRAMS, "noexec");
      return (
        found && {
          fact: `the file system of ${found.path} has noexec, and programs of a node are there`,
          values: { path: found.path },
        }
      );
    },
  },
  {
    name: "programs that change their user",
    read: "findmnt",
    level: "warning",
    needs: "/var/lib/containerd without nosuid",
    fix: "Run there: mount -o remount,suid {path}, and change /etc/fstab",
    find: (asked) => {
      const found = withOption(asked, DATA.slice(0, 1), "nosuid");
      return (
        found && {
          fact: `the file system of ${found.path} has nosuid, so that programs in containers can't change their user`,
          values: { path: found.path },
        }
      );
    },
  },
  {
    name: "programs in /tmp",
    read: "findmnt",
    level: "warning",
    needs: "no noexec, which scripts of some packages need",
    fix: "Run there: mount -o remount,exec /tmp, if an installation fails",
    find: (asked) =>
      withOption(asked, ["/tmp"], "noexec") && {
        fact: "the file system of /tmp has noexec; foresail runs nothing there, and scripts of some packages do",
      },
  },
  {
    name: "kind of file system",
    read: "findmnt",
    level: "refused",
    needs: "one of the machine's own for /var/lib/containerd and /var/lib/kubelet, not one of another server",
    fix: "Put {path} on a disk of the machine",
    find: (asked) => {
      const found = mountsOf(asked).find((each) => isData(each) && REMOTE.test(each.type));
      return (
        found && {
          fact: `${found.path} is on ${found.type}, and images and pods need a file system of the machine`,
          values: { path: found.path },
        }
      );
    },
  },
];
