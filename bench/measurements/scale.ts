import { handlers } from "../../providers/handlers";
import type { BenchContext, Measurement } from "../measurement";
import { ratioTo, type Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";

const [FEW, MANY] = [5, 100];
const WITH_ENGINE = 3;
const WITHOUT_ENGINE = 9;
/** How much longer an addition to the large cluster may take. */
const MOST = { handlers: 1.1, up: 1.2 };

/** Adding one node to an existing cluster, at two sizes. */
export const scale: Measurement = {
  name: "scale",
  title: "Adding one node",
  summary: `to ${FEW} and to ${MANY} machines, with the engine and without`,
  async measure(context) {
    const withEngine = context.rounds ?? WITH_ENGINE;
    const without = context.rounds ?? WITHOUT_ENGINE;
    const few = await Cluster.start(context, FEW, withEngine + without);
    const many = await Cluster.start(context, MANY, withEngine + without).catch(async (error: unknown) => {
      await few.stop();
      throw error;
    });
    try {
      const whole = await inTurn(context, "pulumi up", withEngine, few, many, (cluster) =>
        cluster.addByEngine(),
      );
      await few.takeOver();
      await many.takeOver();
      const own = await inTurn(context, "handlers", without, few, many, (cluster) => cluster.addByHandlers());
      return {
        rows: [
          ...rowsOf("foresail's handlers", own, MOST.handlers),
          ...rowsOf("`pulumi up`", whole, MOST.up),
        ],
        notes: [
          "Simulated SSH hosts in front of a real API server. The handlers' part is NodeGroup's check, diff and update " +
            "called without the engine: Nodes listed, token, join, Ready, labels.",
          "A single addition takes half a second, so on a busy machine its spread is wide: the medians and the ratio say more together.",
          "The engine's own part grows with the stack: it compares each resource and writes the whole state at each step.",
        ],
      };
    } finally {
      await few.stop();
      await many.stop();
    }
  },
};

interface Times {
  few: number[];
  many: number[];
}

async function inTurn(
  { load, say }: BenchContext,
  what: string,
  runs: number,
  few: Cluster,
  many: Cluster,
  add: (cluster: Cluster) => Promise<number>,
): Promise<Times> {
  const times: Times = { few: [], many: [] };
  for (let run = 0; run < runs; run++) {
    await load.settle();
    times.few.push(await add(few));
    times.many.push(await add(many));
    say(`${what}: ${times.few.at(-1)?.toFixed(2)} s and ${times.many.at(-1)?.toFixed(2)} s`);
  }
  return times;
}

function rowsOf(what: string, { few, many }: Times, most: number): Row[] {
  const ratio = ratioTo(`to ${FEW}`, few, many);
  return [
    { what: `${what}, one node to ${FEW}`, unit: "s", figure: summarize(few) },
    {
      what: `${what}, one node to ${MANY}`,
      unit: "s",
      figure: summarize(many),
      ratio,
      wanted: { words: `≤ ${most} ×`, reached: ratio.figure.median <= most },
    },
  ];
}

type Values = Record<string, unknown> & { machines: Record<string, unknown>[] };

/** A simulated cluster that grows by one machine at a time. */
class Cluster {
  private id = "";
  private recorded: Values = { machines: [] };

  private constructor(
    private readonly simulation: Simulation,
    private readonly stack: BenchStack,
    private machines: number,
  ) {}

  /** @param more machines that are added later */
  static async start({ toolchain, report }: BenchContext, machines: number, more: number): Promise<Cluster> {
    return report.step(`a cluster of ${machines} simulated machines`, async () => {
      const simulation = await Simulation.start(machines + more);
      const stack = await BenchStack.ofForesail(toolchain, simulation.content(machines));
      const cluster = new Cluster(simulation, stack, machines);
      await stack.up().catch(async (error: unknown) => {
        await cluster.stop();
        throw error;
      });
      return cluster;
    });
  }

  /** @returns seconds of wall time */
  async addByEngine(): Promise<number> {
    this.machines += 1;
    await this.stack.configure(this.simulation.content(this.machines));
    return (await this.stack.up()).seconds;
  }

  /** From here on the handlers are called with what the state holds. */
  async takeOver(): Promise<void> {
    const { id, outputs } = await this.stack.resource("bench-workers");
    this.id = id;
    this.recorded = outputs as Values;
  }

  /** @returns seconds of wall time */
  async addByHandlers(): Promise<number> {
    const name = this.simulation.names[this.machines] ?? "";
    this.machines += 1;
    this.simulation.markPrepared(name);
    const machine = { ...this.recorded.machines[0], ...this.simulation.machine(name) };
    const desired = { ...this.recorded, machines: [...this.recorded.machines, machine] };
    const group = handlers["kubeadm/NodeGroup"];
    const began = performance.now();
    const checked = await group.check?.(this.recorded, desired);
    const inputs = (checked?.inputs ?? desired) as Values;
    await group.diff?.(this.id, this.recorded, inputs);
    const updated = await group.update?.(this.id, this.recorded, inputs);
    const seconds = (performance.now() - began) / 1000;
    this.recorded = updated?.outs as Values;
    return seconds;
  }

  async stop(): Promise<void> {
    this.stack.delete();
    await this.simulation.stop();
  }
}
