import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { freePorts } from "../../sandbox/management/api-server";
import { TemporalServer } from "../support/temporal-server";
import { removeFolder } from "./compiled-clone";
import { FleetCommand } from "./fleet-command";
import { FleetWorker } from "./fleet-worker";
import { readJournal, writeJournalProject } from "./journal-project";
import { engineToolchain } from "./simulated-fixture";
import { TestStack } from "./test-stack";

/** The value of a secret of each stack, and the passphrase that encrypts it. */
export const SECRETS = ["a-token-of-the-stack", "a passphrase for tests"];

/** A project whose waves a real Temporal server runs. */
export class TemporalGround {
  private readonly workers = new Set<FleetWorker>();
  fleet!: FleetCommand;
  /** One of the stacks. */
  stack!: TestStack;
  server!: TemporalServer;
  /** Writes fleet.yaml with these fields. */
  writeFleet!: (content: object) => void;

  constructor(readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-temporal-"))) {}

  at(name: string): string {
    return path.join(this.folder, name);
  }

  /** Makes the stacks, each with the label of its region, and writes the waves. */
  async make(regions: Readonly<Record<string, string>>, waves: readonly object[]): Promise<void> {
    writeJournalProject(this.folder, { holdSeconds: 120, secret: "token" });
    const address = `127.0.0.1:${(await freePorts(1))[0]}`;
    this.writeFleet = (content) =>
      writeFileSync(
        this.at("fleet.yaml"),
        stringify({ maxParallel: 3, runner: { temporal: { address } }, ...content }),
      );
    this.writeFleet({ waves });
    const toolchain = await engineToolchain();
    this.server = await TemporalServer.open({ address, database: this.at("temporal.db") });
    for (const [name, region] of Object.entries(regions)) {
      const stack = await new TestStack(
        { folder: this.folder, project: "waves", stack: name },
        toolchain,
      ).create();
      await stack.setSecret("token", SECRETS[0]!);
      const file = this.at(`Pulumi.${name}.yaml`);
      writeFileSync(file, `${readFileSync(file, "utf8")}  waves:labels:\n    region: ${region}\n`);
      this.fleet = new FleetCommand(stack);
      this.stack = stack;
    }
  }

  async startWorker(region: string): Promise<FleetWorker> {
    const worker = await FleetWorker.start(this.fleet, region);
    this.workers.add(worker);
    return worker;
  }

  journal(): string[] {
    return readJournal(this.folder);
  }

  set(name: string): void {
    writeFileSync(this.at(name), "");
  }

  clear(name: string): void {
    rmSync(this.at(name), { force: true });
  }

  async remove(): Promise<void> {
    for (const worker of this.workers) await worker.kill();
    await this.server?.kill();
    mkdirSync(this.folder, { recursive: true });
    removeFolder(this.folder);
  }
}
