import assert from "node:assert/strict";
import { z } from "zod";
import { containerNodeSettings } from "../../../sandbox/nodes/container-node-settings";
import { tumblebugConfiguration } from "../../../sandbox/systems/tumblebug-configuration";
import { TumblebugSection } from "../../../stacks/schema";
import { baseCluster } from "../../../stacks/schema/cluster";
import { readable } from "../../../lib/validation/check";
import { tumblebugRules } from "../../../stacks/schema/tumblebug";

const ALL = ["aws-ap-northeast-2", "gcp-asia-northeast1", "azure-koreacentral"];

describe("the configuration of the sandbox's cluster on Tumblebug", () => {
  for (const [connections, workers, expected] of [
    [1, 1, ["cp 1 in aws", "w 1 in aws"]],
    [3, 2, ["cp 1 in aws", "w1 1 in aws", "w2 1 in gcp"]],
    [3, 7, ["cp 1 in aws", "w1 3 in aws", "w2 2 in gcp", "w3 2 in azure"]],
  ] as const)
    it(`spreads ${workers} workers over ${connections} connections, and breaks no rule`, () => {
      const { cluster, tumblebug } = tumblebugConfiguration(
        {
          size: { controlPlanes: 1, workers },
          access: { address: "http://127.0.0.1:20000/tumblebug", user: "default", password: "secret" },
          generation: "infra",
          connections: ALL.slice(0, connections),
          cidr: "10.21.0.0/16",
        },
        containerNodeSettings,
      );
      const section = TumblebugSection.parse(tumblebug);
      assert.deepEqual(
        section.groups.map(
          ({ name, replicas, connection }) => `${name} ${replicas} in ${connection.split("-")[0]}`,
        ),
        expected,
      );
      const sections = z.object({ cluster: baseCluster("tumblebug"), tumblebug: TumblebugSection });
      assert.deepEqual(tumblebugRules(readable(sections, { cluster, tumblebug })), []);
      assert.ok(!JSON.stringify({ cluster, tumblebug }).includes("secret"));
    });
});
