import { ensureToolchain } from "../../sandbox/toolchain";
import type { Measurement } from "../measurement";
import { PoolFixture } from "../pool-fixture";
import { pairedRatio, summarize } from "../statistics";

const [FEW, MANY] = [1, 1_000];
const MACHINE_MILLISECONDS = 100;
const KUBERNETES = "1.36.3";

/** What a pool of a thousand nodes costs in memory, beside a pool of one. */
export const machinePoolMemory: Measurement = {
  name: "machine-pool-memory",
  title: "Memory while following a MachinePool",
  summary: `of ${FEW} node and of ${MANY}: peak memory of the process that follows`,
  async measure({ report, load, say }) {
    const programs = await ensureToolchain(
      { programs: ["pulumi", "language-nodejs", "cluster-api"], kubernetes: [KUBERNETES] },
      report,
    );
    const fixture = await PoolFixture.start(programs, MACHINE_MILLISECONDS);
    try {
      await load.settle();
      const few = await fixture.memoryAt(FEW);
      say(`${FEW} node: ${few.megabytes.toFixed(0)} MB, ${few.seconds.toFixed(0)} s`);
      const many = await fixture.memoryAt(MANY);
      say(`${MANY} nodes: ${many.megabytes.toFixed(0)} MB, ${many.seconds.toFixed(0)} s`);
      return {
        rows: [
          { what: `peak memory, ${FEW} node`, unit: "MB", figure: summarize([few.megabytes]) },
          {
            what: `peak memory, ${MANY} nodes`,
            unit: "MB",
            figure: summarize([many.megabytes]),
            ratio: { figure: pairedRatio([few.megabytes], [many.megabytes]), to: `${FEW} node` },
          },
          { what: `\`pulumi up\` to ${MANY} nodes`, unit: "s", figure: summarize([many.seconds]) },
        ],
        notes: [
          "Resident memory of the dynamic provider, which follows the pool and the nodes, during the whole `pulumi up`.",
          "Cluster API's core manager 1.7.1, machines that are Node objects. Most of the time is its own: it marks the nodes one by one.",
        ],
      };
    } finally {
      await fixture.stop();
    }
  },
};
