import { appendFile, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { writePrivate } from "../../private-file";
import type { CloudPaths } from "../settings";
import { renderConsole } from "./console";
import {
  decide,
  floatingIpOf,
  type ContainerState,
  type FloatingIp,
  type MachineAction,
  type MachineAnswer,
  type MachineRequest,
} from "./decision";
import type { Hosts } from "./hosts";

/** How many containers are handled at once: more would only compete for the processor. */
const MOST_AT_ONCE = 3;

/** How often the engine is asked for the actual state; in between, the last action counts. */
const SURVEY_MILLISECONDS = 20_000;

/**
 * Reconciles the containers with the state that nova and Neutron request: several servers in parallel, each in its own
 * order.
 */
export class Machines {
  private readonly works = new Map<string, Promise<void>>();
  private readonly states = new Map<string, ContainerState>();
  private readonly floatingIps = new Map<string, string | undefined>();
  /** the listeners of load balancers, as text */
  private readonly listeners = new Map<string, string>();
  private surveyed = 0;

  constructor(
    private readonly paths: Pick<CloudPaths, "machines" | "floatingIps">,
    private readonly hosts: Pick<
      Hosts,
      "find" | "create" | "start" | "stop" | "remove" | "setFloatingIp" | "balance"
    >,
    private readonly say: (line: string) => void,
  ) {}

  /** Checks all servers once and starts the necessary work; `waitUntilIdle` waits for it. */
  async look(): Promise<void> {
    const ids = await readdir(this.paths.machines).catch((): string[] => []);
    if (ids.length === 0) return;
    await this.survey();
    const floating = (await readJson<FloatingIp[]>(this.paths.floatingIps)) ?? [];
    for (const id of ids) {
      if (this.works.size >= MOST_AT_ONCE) return;
      if (this.works.has(id)) continue;
      const request = await this.read<MachineRequest>(id, "request.json");
      const answer = await this.read<MachineAnswer>(id, "answer.json");
      const action = decide(request, this.states.get(id) ?? "none", answer);
      const floatingIp = request === undefined ? undefined : floatingIpOf(request, floating);
      const isMoved = this.states.get(id) === "running" && this.floatingIps.get(id) !== floatingIp;
      const isBalanced = this.states.get(id) !== "running" || this.isBalanced(id, request);
      if (action === "nothing" && !isMoved && isBalanced) continue;
      this.begin(id, () => this.act(id, action, request, floatingIp));
    }
  }

  /** Waits until no work is running. */
  async waitUntilIdle(): Promise<void> {
    while (this.works.size > 0) await Promise.all(this.works.values());
  }

  private begin(id: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.say(`${id}: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => this.works.delete(id));
    this.works.set(id, running);
  }

  private async survey(): Promise<void> {
    if (this.works.size > 0 || Date.now() - this.surveyed < SURVEY_MILLISECONDS) return;
    const found = await this.hosts.find();
    for (const id of this.states.keys()) if (!found.has(id)) this.states.delete(id);
    for (const [id, state] of found) {
      // a restarted container has only the networks of its creation
      if (state !== this.states.get(id)) {
        this.floatingIps.delete(id);
        this.listeners.delete(id);
      }
      this.states.set(id, state);
    }
    this.surveyed = Date.now();
  }

  private async act(
    id: string,
    action: MachineAction,
    request: MachineRequest | undefined,
    floatingIp: string | undefined,
  ): Promise<void> {
    if (request === undefined) return this.remove(id);
    try {
      await this.carryOut(id, action, request);
      if (
        this.states.get(id) === "running" &&
        (action !== "nothing" || this.floatingIps.get(id) !== floatingIp)
      ) {
        await this.hosts.setFloatingIp(id, floatingIp);
        this.floatingIps.set(id, floatingIp);
      }
      const isStale = this.states.get(id) === "running" && !this.isBalanced(id, request);
      if (isStale) {
        await this.hosts.balance(id, request.listeners ?? []);
        this.listeners.set(id, JSON.stringify(request.listeners));
        this.say(`${id} (${request.name}): ${request.listeners?.length} listeners`);
      }
      const state = request.power === "on" ? "running" : "stopped";
      if (action !== "nothing" || isStale) await this.answer(id, { state, boot: request.boot, message: "" });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await this.answer(id, { state: "failed", boot: request.boot, message });
      throw error;
    }
  }

  /** Returns whether the container has its load balancer's listeners; always true for a server. */
  private isBalanced(id: string, request: MachineRequest | undefined): boolean {
    return request?.listeners === undefined || this.listeners.get(id) === JSON.stringify(request.listeners);
  }

  private async carryOut(id: string, action: MachineAction, request: MachineRequest): Promise<void> {
    switch (action) {
      case "create": {
        const { hostKey } = await this.hosts.create(id, request);
        await appendFile(this.file(id, "console.log"), renderConsole(request.hostname, hostKey));
        this.states.set(id, "running");
        break;
      }
      case "restart":
        await this.hosts.stop(id);
        await this.hosts.start(id);
        break;
      case "start":
        await this.hosts.start(id);
        this.states.set(id, "running");
        break;
      case "stop":
        await this.hosts.stop(id);
        this.states.set(id, "stopped");
        break;
      case "answer":
      case "remove":
      case "nothing":
        return;
    }
    this.say(`${id} (${request.name}): ${action}`);
  }

  private async remove(id: string): Promise<void> {
    await this.hosts.remove(id);
    this.states.delete(id);
    this.floatingIps.delete(id);
    this.listeners.delete(id);
    // last, because nova considers the server deleted once its folder is
    await rm(path.join(this.paths.machines, id), { recursive: true, force: true });
    this.say(`${id}: removed`);
  }

  private async answer(id: string, answer: MachineAnswer): Promise<void> {
    await writePrivate(this.file(id, "answer.json"), JSON.stringify(answer));
  }

  private file(id: string, name: string): string {
    return path.join(this.paths.machines, id, name);
  }

  private read<Content>(id: string, name: string): Promise<Content | undefined> {
    return readJson<Content>(this.file(id, name));
  }
}

async function readJson<Content>(file: string): Promise<Content | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Content);
}
