import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  agentConfiguration,
  agentProgram,
  installerPath,
} from "../../../../../providers/kubeadm/machine/node-agent";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { machineProgram } from "./machine-programs";

const PROGRAMS =
  "kubectl kubeadm kubelet systemctl curl dpkg-query hostname swapon swapoff sysctl systemd-detect-virt stub-install";
const KEYS = annotationKeys();
/** Calls that change something; the others only ask. */
const CHANGING =
  /annotate|kubeadm upgrade|^install .* install$|systemctl (restart|start|daemon-reload|reboot)|swapoff/;

interface AgentRun {
  status: number | null;
  output: string;
}

const LIMIT_SECONDS = 60;

/** Those that tests have not removed. */
const machines = new Set<AgentMachine>();
// also after a test that failed: an agent would keep its process from ending
after(() => machines.forEach((machine) => machine.remove()));

/** A machine in a folder, with the real agent and fakes for all programs that it calls. */
export class AgentMachine {
  readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-agent-"));
  private readonly holders: ChildProcess[] = [];
  private readonly agents: ChildProcess[] = [];
  private readonly program = this.place(NODE_PATHS.agentProgram);
  private readonly stub = path.join(this.folder, "programs", ".stub");

  constructor(
    options: {
      controlPlane?: boolean;
      /** Whether kubeadm init ran on it. */
      first?: boolean;
      version?: string;
      cluster?: string;
      staged?: string[];
      patches?: { init?: string; join?: string };
      /** Further files that the agent compares. */
      managed?: string[];
      repairs?: boolean;
    } = {},
  ) {
    machines.add(this);
    const { version = "1.35.4", cluster = version, staged = ["1.35.4", "1.36.3"] } = options;
    for (const name of ["state/annotations", "state/versions", "programs", "run"])
      mkdirSync(path.join(this.folder, name), { recursive: true });
    this.write(this.stub, machineProgram(this.folder), 0o755);
    for (const name of PROGRAMS.split(" ")) symlinkSync(this.stub, path.join(this.folder, "programs", name));
    this.write(this.program, agentProgram(this.folder), 0o755);
    const settings = {
      node: "w-1",
      annotations: "alpha.[software].caos.ch",
      ignorePreflightErrors: ["Swap"],
      revision: "0123456789ab",
      patches: options.patches,
      managed: options.managed,
      repairs: options.repairs,
    };
    this.write(
      this.place(NODE_PATHS.agentConfiguration),
      agentConfiguration({ ...settings, retrySeconds: 0 }),
    );
    this.put(NODE_PATHS.member, "2026-11-25T00:00:00Z\n");
    for (const software of ["kubeadm", "kubelet", "kubectl", "images"])
      for (const staging of staged) this.stage(software, staging);
    for (const name of ["kubeadm", "kubelet", "kubectl", "running", "manifests"])
      this.setVersion(name, version);
    this.setVersion("cluster", cluster);
    this.setVersion("containerd", "1.6.20");
    this.state("ready", "True");
    this.state("reports", "2026-11-01T00:00:00Z");
    if (options.first) this.write(this.place("/etc/kubernetes/super-admin.conf"), "");
    if (options.controlPlane) this.write(this.place("/etc/kubernetes/manifests/kube-apiserver.yaml"), "");
  }

  /** Uses the real program instead of its fake. */
  useReal(name: string, program: string): void {
    const link = path.join(this.folder, "programs", name);
    rmSync(link);
    symlinkSync(program, link);
  }

  /** Uses a bash script instead of the system's own program. */
  useScript(name: string, lines: readonly string[]): void {
    const program = path.join(this.folder, "programs", name);
    // else the fake of all programs would be written
    rmSync(program, { force: true });
    this.write(program, `#!/bin/bash\n${lines.join("\n")}\n`, 0o755);
  }

  /** Stages an installer that only records that it ran. @param also further lines */
  stage(software: string, version: string, also = ""): void {
    this.write(
      this.place(installerPath(software, version)),
      `stub-install ${software} ${version} "$1"\n${also}\n`,
      0o700,
    );
  }

  setVersion(name: string, version: string): void {
    writeFileSync(path.join(this.folder, "state/versions", name), version);
    // another version is another file
    utimesSync(this.stub, new Date(), new Date());
  }

  annotate(key: string, value: string): void {
    writeFileSync(path.join(this.folder, "state/annotations", key.replaceAll("/", "@")), value);
  }

  /** What a rollout writes: the three programs of Kubernetes, and whether the change window is open. */
  setDesired(version: string, allowed = true): void {
    for (const name of ["kubelet", "kubeadm", "kubectl"]) this.annotate(KEYS.desired(name), `v${version}`);
    this.annotate(KEYS.changesAllowed, String(allowed));
  }

  get annotations(): Record<string, string> {
    return this.files("state/annotations", (name) => name.replaceAll("@", "/"));
  }

  get versions(): Record<string, string> {
    return this.files("state/versions");
  }

  get calls(): string[] {
    const file = path.join(this.folder, "state/calls");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  }

  /** Output of the started agents. */
  get log(): string {
    return readFileSync(path.join(this.folder, "log"), "utf8");
  }

  /** The calls that changed something, without what every call of kubectl has. */
  get changes(): string[] {
    return this.calls
      .filter((call) => CHANGING.test(call) && !call.includes(" --local "))
      .map((call) =>
        call.replace(/^kubectl .* annotate node w-1 --overwrite --field-manager=\S+ /, "annotate "),
      );
  }

  /** Makes the next calls that contain these words fail. */
  fail(words: string, says: string, times: number): void {
    this.state("fail", words);
    this.state("fail-words", `${says}\n`);
    this.state("fail-times", String(times));
  }

  exists(ref: string): boolean {
    return existsSync(this.place(ref));
  }

  /** Puts a file where the agent reads the machine's. */
  put(ref: string, text = "", mode?: number): void {
    this.write(this.place(ref), text, mode);
  }

  read(ref: string): string {
    return readFileSync(this.place(ref), "utf8");
  }

  take(ref: string): void {
    rmSync(this.place(ref));
  }

  state(name: string, text = ""): void {
    writeFileSync(path.join(this.folder, "state", name), text);
  }

  run(...args: string[]): AgentRun {
    const { status, stdout, stderr } = spawnSync("bash", [this.program, ...args], {
      encoding: "utf8",
      env: this.environment,
      timeout: 60_000,
      maxBuffer: 2 ** 26,
    });
    return { status, output: stdout + stderr };
  }

  /** Starts it as a group of processes of its own, as systemd does. */
  start(...args: string[]): ChildProcess {
    const log = openSync(path.join(this.folder, "log"), "a");
    const options = {
      env: this.environment,
      detached: true,
      stdio: ["ignore", log, log] as ["ignore", number, number],
    };
    const child = spawn("bash", [this.program, ...args], options);
    closeSync(log);
    this.agents.push(child);
    return child;
  }

  /** Holds one of the machine's locks, as a step of foresail or an agent does. @returns a function that releases it */
  async holdLock(ref: string): Promise<() => void> {
    const held = path.join(this.folder, "state/held");
    const script = `exec 9>>"$1"; flock 9; : >"$2"; read -r _`;
    const holder = spawn("bash", ["-c", script, "holder", this.place(ref), held], { stdio: "pipe" });
    this.holders.push(holder);
    await this.until(() => existsSync(held), "the lock");
    return () => holder.stdin.end();
  }

  /** Runs until a call hangs before or after its effect, and kills all of it there, as systemd does. */
  async killAt(when: "before" | "after", call: string): Promise<void> {
    this.state(`hang-${when}`, call);
    const child = this.start("--once");
    const ended = once(child, "exit");
    await this.until(() => this.reached("hung") || child.exitCode !== null, `${when} ${call}`);
    if (child.exitCode !== null) throw new Error(`the agent ended without the call ${call}`);
    process.kill(-child.pid!, "SIGKILL");
    await ended;
    rmSync(path.join(this.folder, "state/hung"));
  }

  async until(isMet: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + LIMIT_SECONDS * 1000;
    while (!isMet()) {
      if (Date.now() > deadline)
        throw new Error(`waited ${LIMIT_SECONDS} s for: ${what}\n${this.calls.join("\n")}`);
      await pause(10);
    }
  }

  remove(): void {
    machines.delete(this);
    for (const holder of this.holders) holder.kill("SIGKILL");
    for (const { pid, exitCode, signalCode } of this.agents)
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  private reached(name: string): boolean {
    return existsSync(path.join(this.folder, "state", name));
  }

  private get environment(): NodeJS.ProcessEnv {
    return { PATH: `${path.join(this.folder, "programs")}:/usr/sbin:/usr/bin:/sbin:/bin` };
  }

  private place(absolute: string): string {
    return path.join(this.folder, absolute);
  }

  private write(file: string, text: string, mode = 0o600): void {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  private files(folder: string, keyOf = (name: string) => name): Record<string, string> {
    const whole = path.join(this.folder, folder);
    const names = readdirSync(whole).sort();
    return Object.fromEntries(
      names.flatMap((name) => {
        const text = textOf(path.join(whole, name));
        return text === undefined ? [] : [[keyOf(name), text]];
      }),
    );
  }
}

/** Returns the text of a file; undefined if a running agent has removed it since it was listed. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The configuration that {@link askedMachine} is asked for. */
export const ASKED_VERSION = "aaaaaa.bbbbbb.cccccc";

/** A machine that is asked for a configuration. */
export function askedMachine(options: ConstructorParameters<typeof AgentMachine>[0] = {}): AgentMachine {
  const machine = new AgentMachine({ ...options, version: "1.36.3", staged: ["1.36.3"] });
  machine.stage("configuration", ASKED_VERSION);
  machine.setDesired("1.36.3");
  machine.annotate(KEYS.desired("configuration"), ASKED_VERSION);
  return machine;
}
