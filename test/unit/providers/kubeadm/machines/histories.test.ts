import { assertGolden } from "../../../golden";
import { openstackHistory, tumblebugHistory, type HistoryRun } from "./histories";

const SEEDS = [1, 2, 3, 4, 5, 6];

const text = (histories: readonly HistoryRun[][]): string =>
  `${histories
    .flatMap((history, index) =>
      history.map(({ decisions }, run) => `seed ${index + 1}, run ${run + 1}: ${JSON.stringify(decisions)}`),
    )
    .join("\n")}\n`;

describe("recorded decisions of the machine planner", () => {
  it("OpenStack: names, metadata, order and batches of machines do not change", () => {
    assertGolden("machines-openstack.txt", text(SEEDS.map(openstackHistory)));
  });

  it("Tumblebug: order, configuration and batches of machines do not change", () => {
    assertGolden("machines-tumblebug.txt", text(SEEDS.map(tumblebugHistory)));
  });
});
