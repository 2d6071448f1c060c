import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { constants, userInfo } from "node:os";
import path from "node:path";
import type { Reporter } from "../progress";
import { ensurePackages } from "../toolchain/packages";
import { CommandError, run, succeeds } from "./command";

/** A container of the engine on this machine. */
export interface Container {
  readonly name: string;
  /** the engine's state name: running, exited, created, … */
  readonly state: string;
  /** the host PID of the first process; 0 when there is none */
  readonly pid: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** The Debian packages of an engine; runc, because crun rejects hybrid control groups. */
const ENGINE_PACKAGES = ["podman", "runc", "iptables"] as const;

/** Where podman's monitors write a container's exit code. */
const EXIT_NOTES = "/run/libpod/exits";

const LIST_ATTEMPTS = 5;

/** podman or docker, through its command line. */
export class ContainerEngine {
  private constructor(readonly program: "podman" | "docker") {}

  /** Returns the engine that answers; prefers podman to docker. */
  static async find(): Promise<ContainerEngine | undefined> {
    for (const program of ["podman", "docker"] as const) {
      if (await succeeds(program, ["version"])) return new ContainerEngine(program);
    }
    return undefined;
  }

  /**
   * Returns the engine that answers; installs podman when none does.
   * @throws Error when there is still none
   */
  static async ensure(report: Reporter): Promise<ContainerEngine> {
    const found = await ContainerEngine.find();
    if (found !== undefined) return found;
    await ensurePackages(ENGINE_PACKAGES, report);
    const installed = await ContainerEngine.find();
    if (installed === undefined) {
      throw new Error("neither podman nor docker answers; try: podman version, and install one of them");
    }
    return installed;
  }

  /**
   * Returns whether root owns the containers, so that nodes can mount folders of this machine with files of any owner.
   */
  get isRootful(): boolean {
    return this.program === "podman" && userInfo().uid === 0;
  }

  /** Runs the engine's program. */
  call(args: readonly string[], seconds = 120): Promise<string> {
    return run(this.program, args, { seconds });
  }

  /** Returns the arguments that let a container runtime work within a container. */
  async nestingArguments(): Promise<string[]> {
    return [
      ...(await this.limitArguments()),
      // without a hierarchy of its own the nested runtime can't mount control groups, and every pod dies silently
      ...["--privileged", "--cgroupns=private"],
      // else podman mounts this machine's hierarchy of systemd over the private one
      ...(this.program === "podman" ? ["--systemd=false"] : []),
    ];
  }

  /** Returns the arguments that let any container start on hosts with low limits and hybrid control groups. */
  async limitArguments(): Promise<string[]> {
    if (this.program === "docker") return [];
    const limits = await readFile("/proc/self/limits", "utf8");
    return [
      // crun rejects hybrid control groups
      ...(existsSync("/sys/fs/cgroup/cgroup.controllers") ? [] : ["--runtime", "runc"]),
      // the engine's defaults may exceed this machine's limits
      ...["--ulimit", `nofile=${hardLimit(limits, "Max open files", 1_048_576)}`],
      ...["--ulimit", `nproc=${hardLimit(limits, "Max processes", 30_000)}`],
    ];
  }

  async hasImage(name: string): Promise<boolean> {
    return succeeds(this.program, ["image", "inspect", name]);
  }

  /** Returns all containers with these labels; an empty value matches any. */
  async containers(labels: Readonly<Record<string, string>>): Promise<Container[]> {
    const ids = lines(await this.call(["ps", "--all", "--quiet", "--no-trunc", ...filters(labels)]));
    const found = await Promise.all(ids.map((id) => this.inspect(id)));
    return found.filter((container) => container !== undefined);
  }

  private async inspect(id: string): Promise<Container | undefined> {
    let text: string;
    try {
      text = await this.call(["container", "inspect", id]);
    } catch (error) {
      // removed since it was listed
      if (await this.isMissing(id)) return undefined;
      throw error;
    }
    const [container] = JSON.parse(text) as [
      { Name: string; State: { Status: string; Pid: number }; Config: { Labels?: Record<string, string> } },
    ];
    return {
      name: container.Name.replace(/^\//, ""),
      state: container.State.Status,
      pid: container.State.Pid,
      labels: container.Config.Labels ?? {},
    };
  }

  private async isMissing(id: string): Promise<boolean> {
    return !lines(await this.call(["ps", "--all", "--quiet", "--no-trunc"])).includes(id);
  }

  /** Removes a container in any state, if there is one. */
  async removeContainer(name: string): Promise<void> {
    if (!(await succeeds(this.program, ["container", "inspect", name]))) return;
    const remove = ["rm", "--force", ...(this.program === "podman" ? ["--time", "0"] : []), name];
    try {
      await this.call(remove);
    } catch {
      // podman can't remove what it can't stop, and can't stop processes that have ended
      await this.noteEnd(name);
      await this.call(remove);
    }
  }

  /**
   * Makes podman notice that a container's processes have ended even when its monitor (conmon) was killed: writes the
   * exit file that the monitor would have written. Docker notices by itself.
   */
  async noteEnd(name: string): Promise<void> {
    if (!this.isRootful || !existsSync(EXIT_NOTES)) return;
    const id = (await this.call(["container", "inspect", "--format", "{{.Id}}", name])).trim();
    await writeFile(path.join(EXIT_NOTES, id), String(128 + constants.signals.SIGKILL));
  }

  /** Names of the volumes with all of these labels. */
  async volumes(labels: Readonly<Record<string, string>>): Promise<string[]> {
    // podman matches volumes that have any of several labels
    const each = Object.entries(labels).map(async ([key, value]) =>
      lines(await this.list(["volume", "ls", "--quiet", ...filters({ [key]: value })])),
    );
    const [first = [], ...others] = await Promise.all(each);
    return first.filter((name) => others.every((names) => names.includes(name)));
  }

  /** podman's lists fail when an object is deleted while they run, so they are tried again. */
  private async list(args: readonly string[]): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.call(args);
      } catch (error) {
        const isPassing = error instanceof CommandError && /no such|not found/i.test(error.stderr);
        if (!isPassing || attempt === LIST_ATTEMPTS) throw error;
      }
    }
  }

  /** Names of the networks with these labels. */
  async networks(labels: Readonly<Record<string, string>>): Promise<string[]> {
    return lines(await this.list(["network", "ls", "--format", "{{.Name}}", ...filters(labels)]));
  }

  /** Returns the subnets of all the engine's networks, or of the named one. */
  async subnets(network?: string): Promise<string[]> {
    const names =
      network === undefined ? lines(await this.call(["network", "ls", "--format", "{{.Name}}"])) : [network];
    const texts = await Promise.all(
      names.map((name) => this.call(["network", "inspect", name]).catch(() => "")),
    );
    return texts.flatMap((text) =>
      [...text.matchAll(/"subnet":\s*"([^"]+)"/gi)].map((match) => match[1] ?? ""),
    );
  }
}

function filters(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    "--filter",
    `label=${value === "" ? key : `${key}=${value}`}`,
  ]);
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Returns the hard limit in a row of /proc/PID/limits as SOFT:HARD for --ulimit, capped at a useful maximum. */
function hardLimit(limits: string, row: string, most: number): string {
  const words = limits
    .split("\n")
    .find((line) => line.startsWith(row))
    ?.slice(row.length)
    .trim()
    .split(/\s+/);
  const hard = Math.min(Number(words?.[1] ?? most) || most, most);
  return `${hard}:${hard}`;
}
