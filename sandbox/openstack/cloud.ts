import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { writePrivate } from "../private-file";
import { Processes } from "../processes";
import type { Reporter } from "../progress";
import { withLock } from "../toolchain/lock";
import { cloudApi, type CloudApi } from "./cloud-api";
import type { CloudOptions } from "./cloud-options";
import { renderCloudsFile } from "./clouds-file";
import { publicUrl, type Configured } from "./configuration/common";
import { CONFIGURATIONS } from "./configuration/services";
import { ensureDatabases } from "./databases";
import { FaultControl } from "./front/fault-control";
import { ensureSettings } from "./first-settings";
import { Hosts } from "./machines/hosts";
import { plantSeed, type Planted } from "./seed-planting";
import { CLOUD_NAMES } from "./seed";
import { FRONT, gunicornSettings, isWsgi, MACHINES, ownProcess, serviceProcess } from "./service-processes";
import {
  cloudPaths,
  readSettings,
  SERVICES,
  servicesOf,
  type CloudPaths,
  type CloudSettings,
  type ServiceName,
} from "./settings";

/** How programs connect to a running cloud. */
interface CloudAccess {
  readonly cloudsFile: string;
  readonly cloud: string;
  readonly authUrl: string;
  readonly project: string;
}

/** The running parts of a cloud. */
interface CloudStatus {
  readonly running: readonly string[];
  readonly missing: readonly string[];
}

const START_SECONDS = 300;

/** A real OpenStack on this machine: keystone, placement, glance, neutron and nova, whose servers are container nodes. */
export class Cloud {
  readonly paths: CloudPaths;
  private readonly processes: Processes;

  constructor(private readonly options: CloudOptions) {
    this.paths = cloudPaths(path.resolve(options.folder));
    this.processes = new Processes(this.paths.processes, this.paths.logs);
  }

  /**
   * Starts what is not running, including the cloud's servers; creates a new cloud first.
   * @param python of the packages "openstack" of the tool chain
   * @throws Error with the last log lines of the service that did not start
   */
  async start(python: string, report: Reporter): Promise<CloudAccess> {
    await mkdir(path.dirname(this.paths.folder), { recursive: true });
    return withLock(
      `${this.paths.folder}.lock`,
      () => undefined,
      () => this.startLocked(python, report),
    );
  }

  private async startLocked(python: string, report: Reporter): Promise<CloudAccess> {
    const isRunning = (await this.status()).missing.length === 0;
    const settings = await ensureSettings(this.options, (await this.processes.running()).length > 0, report);
    const before = await this.planted().catch(() => undefined);
    if (isRunning && before !== undefined) return this.access(settings, before);
    return report.step("OpenStack on this machine", async (update) => {
      const environment = path.resolve(python, "..", "..");
      const configured = { settings, paths: this.paths, environment };
      await this.writeConfiguration(configured);
      // at once, because another cloud on this machine may be looking for a free block
      if (settings.containers) await new Hosts(settings).ensurePublicNetwork();
      await ensureDatabases(configured, update);
      update("keystone, placement, glance, neutron");
      await this.processes.start(ownProcess(FRONT, this.paths));
      const first = SERVICES.filter(isWsgi);
      for (const service of first) await this.startService(service, python, settings);
      for (const service of first) await this.awaitService(service, settings);
      await plantSeed("catalog", python, this.paths, settings);
      update("nova");
      if (settings.containers) await this.processes.start(ownProcess(MACHINES, this.paths));
      const second = servicesOf(settings).filter((service) => !isWsgi(service));
      for (const service of second) await this.startService(service, python, settings);
      for (const service of second) await this.awaitService(service, settings);
      update("flavors, image, networks, credentials");
      const planted = await plantSeed("content", python, this.paths, settings);
      await writePrivate(this.paths.clouds, renderCloudsFile(settings, planted.credential));
      return this.access(settings, planted);
    });
  }

  /** Ends the cloud's processes and powers its servers off; everything is kept for the next start. */
  async stop(): Promise<void> {
    const names = Object.keys(await this.processes.recorded());
    // nova first, then the process that runs its containers
    await this.processes.stop(names.filter((name) => name === "nova"));
    await this.processes.stop(names.filter((name) => name !== "nova"));
    const settings = await readSettings(this.paths.folder);
    if (settings?.containers === true) await new Hosts(settings).powerOff();
  }

  /** Ends the cloud and removes all its processes, containers, volumes, networks and files. */
  async delete(): Promise<void> {
    await this.processes.stop(Object.keys(await this.processes.recorded()));
    // works without settings, too: containers are found by their labels
    await new Hosts({ system: this.options.system, bundles: [], publicCidr: "" }).deleteAll();
    await rm(this.paths.folder, { recursive: true, force: true });
  }

  /** Returns whether it was created and not deleted since. */
  async exists(): Promise<boolean> {
    return (await readSettings(this.paths.folder)) !== undefined;
  }

  /** Returns the names of its running processes. */
  async status(): Promise<CloudStatus> {
    const running = await this.processes.running();
    const settings = await readSettings(this.paths.folder);
    const wanted = [
      FRONT,
      ...servicesOf(settings ?? { octavia: false }),
      ...(settings?.containers === false ? [] : [MACHINES]),
    ];
    return { running, missing: wanted.filter((name) => !running.includes(name)) };
  }

  /** Makes its APIs fail, for tests. */
  async faults(): Promise<FaultControl> {
    return new FaultControl(await this.requireSettings());
  }

  /** Returns its APIs as the project or as the administrator. */
  async api(as: "project" | "administrator"): Promise<CloudApi> {
    const settings = await this.requireSettings();
    const planted = await this.planted();
    return cloudApi(settings, as === "project" ? { credential: planted.credential } : "administrator");
  }

  /**
   * Sets the project's quota.
   * @param compute such as { instances: 1 }
   * @param network such as { floating_ips: 0 }: neutron's names, without "s" at the end
   * @param volume such as { gigabytes: 20 }
   */
  async setQuota(quota: {
    compute?: Record<string, number>;
    network?: Record<string, number>;
    volume?: Record<string, number>;
  }): Promise<void> {
    const api = await this.api("administrator");
    const { project } = await this.planted();
    if (quota.compute !== undefined)
      await api.call("nova", "PUT", `/os-quota-sets/${project}`, { quota_set: quota.compute });
    if (quota.network !== undefined)
      await api.call("neutron", "PUT", `/v2.0/quotas/${project}`, { quota: quota.network });
    if (quota.volume !== undefined)
      await api.call("cinder", "PUT", `/os-quota-sets/${project}`, { quota_set: quota.volume });
  }

  /** Makes cinder fail to create volumes with the given reason; without one, makes it work again. */
  async failVolumes(reason?: string): Promise<void> {
    if (reason === undefined) await rm(this.paths.volumeFault, { force: true });
    else await writePrivate(this.paths.volumeFault, reason);
  }

  private access(settings: CloudSettings, planted: Planted): CloudAccess {
    return {
      cloudsFile: this.paths.clouds,
      cloud: CLOUD_NAMES.cloud,
      authUrl: `${publicUrl(settings, "keystone")}/v3`,
      project: planted.project,
    };
  }

  private async planted(): Promise<Planted> {
    return JSON.parse(await readFile(this.paths.seeded, "utf8")) as Planted;
  }

  private async requireSettings(): Promise<CloudSettings> {
    const settings = await readSettings(this.paths.folder);
    if (settings === undefined) throw new Error(`there is no cloud in ${this.paths.folder}`);
    return settings;
  }

  private async writeConfiguration(configured: Configured): Promise<void> {
    const { paths, settings } = configured;
    for (const folder of [paths.configuration, paths.logs, paths.state, paths.machines])
      await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of ["images", "staging", "tasks", "locks", "fernet", "credential"])
      await mkdir(path.join(paths.state, name), { recursive: true, mode: 0o700 });
    for (const service of SERVICES) {
      const { file, render } = CONFIGURATIONS[service];
      await writePrivate(path.join(paths.configuration, file), render(configured));
      if (!isWsgi(service)) continue;
      const gunicorn = gunicornSettings(paths, service, settings.ports.internal[service]);
      await writePrivate(gunicorn.file, gunicorn.text);
    }
    const planted = await this.planted().catch(() => undefined);
    await writePrivate(paths.clouds, renderCloudsFile(settings, planted?.credential));
  }

  private async startService(service: ServiceName, python: string, settings: CloudSettings): Promise<void> {
    await this.processes.start(serviceProcess(service, python, this.paths, settings));
  }

  private async awaitService(service: ServiceName, settings: CloudSettings): Promise<void> {
    const deadline = Date.now() + START_SECONDS * 1000;
    const url = `http://127.0.0.1:${settings.ports.internal[service]}/${service === "keystone" ? "v3" : ""}`;
    let seen = "";
    while (Date.now() < deadline) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) }).catch(
        (error: unknown) => error,
      );
      if (answer instanceof Response && answer.status < 500) return;
      seen = answer instanceof Response ? `status ${answer.status}` : "no answer";
      if (!(await this.processes.running()).includes(service)) {
        seen = "its process ended";
        break;
      }
      await pause(150);
    }
    throw new Error(
      `${service} did not answer on ${url} within ${START_SECONDS} s (${seen}). Its last log lines:\n` +
        (await this.processes.tail(service)),
    );
  }
}
